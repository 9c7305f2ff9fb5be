"""A pull worker: tell what kind of document a text is.

It works on FOREBAY_DATABASE_URL, else on the embedded server; its login needs the roles
forebay_worker and forebay_agent.
"""

import sys

from forebay import Reject, Task, Worker

worker = Worker(agent="classify", concurrency=4)


@worker.handler
def classify(task: Task) -> dict[str, str]:
    text = task.payload.get("text")
    if not text:
        raise Reject("the payload has no text")
    words = str(text).lower()
    kinds = [kind for kind in ("invoice", "contract", "statement") if kind in words]
    return {"kind": kinds[0] if kinds else "other"}


if __name__ == "__main__":
    print(worker.run(until_empty="--until-empty" in sys.argv), "tasks finished")
