"""Install, upgrade and check the schema forebay from the SQL files of db/."""

from forebay.schema.apply import plan, upgrade
from forebay.schema.files import SchemaError, SqlFile
from forebay.schema.ledger import Applied, Step

__all__ = ["Applied", "SchemaError", "SqlFile", "Step", "plan", "upgrade"]
