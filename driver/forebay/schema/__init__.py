"""Install, upgrade and check the schema forebay from the SQL files of db/."""

from forebay.schema.apply import plan, upgrade
from forebay.schema.files import SchemaError
from forebay.schema.ledger import Applied, Step
from forebay.schema.live import verify
from forebay.schema.release import Status, check_compatible, status
from forebay.schema.scripts import install_script, script

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
