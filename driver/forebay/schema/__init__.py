"""Install, upgrade and check the schema forebay from the SQL files of db/."""

from forebay.schema.apply import plan, upgrade
from forebay.schema.files import SchemaError
from forebay.schema.ledger import Applied, Step
from forebay.schema.script import install_script, script
from forebay.schema.status import Status, check_compatible, status
from forebay.schema.verify import verify

__all__ = [
    "Applied",
    "SchemaError",
    "Status",
    "Step",
    "check_compatible",
    "install_script",
    "plan",
    "script",
    "status",
    "upgrade",
    "verify",
]
