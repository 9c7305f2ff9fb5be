"""A pull worker that asks a model: it waits for its turn, calls, and says what the call used.

The endpoint is OpenAI-compatible, and named by FOREBAY_MODEL_BASE_URL, FOREBAY_MODEL_API_KEY and
FOREBAY_MODEL_NAME: `forebay model-server` is one. Database and roles are those of classify.py.
"""

import json
import os
import sys
from datetime import timedelta
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from forebay import Reject, Retry, Task, Worker

MODEL = os.environ["FOREBAY_MODEL_NAME"]
ANSWER = 200  # tokens that an answer may have

worker = Worker(agent="ask", concurrency=8)


@worker.handler
def ask(task: Task) -> dict[str, str]:
    question = str(task.payload.get("question") or "")
    if not question:
        raise Reject("the payload has no question")
    task.wait_to_call(len(question.encode()) // 2 + 20 + ANSWER, ANSWER, "answer")
    used: dict[str, int] = {}  # unknown, unless the endpoint says it
    try:
        answer = call(question)
        used = tokens(answer["usage"])
    except HTTPError as refusal:
        if refusal.code < 500:  # no model saw the question
            used = {"input_tokens": 0, "output_tokens": 0}
        if refusal.code != 429:
            raise
        after = refusal.headers.get("retry-after", "")
        pause = timedelta(seconds=int(after)) if after.isdecimal() else None
        raise Retry("the endpoint has no room", pause, "rate_limited") from refusal
    finally:  # until then the quota counts what was asked for
        task.usage({"call_id": "answer", "model": MODEL} | used)
    return {"answer": answer["choices"][0]["message"]["content"]}


def call(question: str) -> Any:
    body = {
        "model": MODEL,
        "max_tokens": ANSWER,
        "messages": [{"role": "user", "content": question}],
    }
    request = Request(
        os.environ["FOREBAY_MODEL_BASE_URL"] + "/chat/completions",
        json.dumps(body).encode(),
        {
            "authorization": f"Bearer {os.environ['FOREBAY_MODEL_API_KEY']}",
            "content-type": "application/json",
        },
    )
    with urlopen(request, timeout=60) as response:
        return json.load(response)


def tokens(usage: dict[str, Any]) -> dict[str, int]:
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    return {
        "input_tokens": usage["prompt_tokens"],  # with the cached ones in it
        "output_tokens": usage["completion_tokens"],
        "cached_tokens": cached,
    }


if __name__ == "__main__":
    print(worker.run(until_empty="--until-empty" in sys.argv), "tasks finished")
