"""The rows that the stored functions return: one dataclass per composite type, same field names.

Times are aware datetimes, None where there is none yet; 'infinity' is `datetime.max` in UTC.
"""

from forebay.rows.branches import *  # noqa: F403
from forebay.rows.insight import *  # noqa: F403
from forebay.rows.measures import *  # noqa: F403
from forebay.rows.queue import *  # noqa: F403
from forebay.rows.uploads import *  # noqa: F403
