"""Run the simulated endpoint: `forebay model-server`, or `python -m forebay_lab.model_server`."""

import argparse
import signal
import sys
from contextlib import suppress
from pathlib import Path

from forebay_lab.model_server import CallLog, Fault, Limit, ModelServer, Simulation
from forebay_lab.model_server.faults import KINDS


def main(arguments: list[str] | None = None, program: str = "forebay model-server") -> None:
    """Serve until interrupted, after a line that says where; one on stderr: it is simulated."""
    options = _parser(program).parse_args(arguments)
    fault = Fault(options.fault, seconds=options.seconds) if options.fault else None
    simulation = Simulation(
        latency=options.latency,
        input_rate=options.input_rate,
        output_rate=options.output_rate,
        speed=options.speed,
        limits=tuple(options.limit),
        log=CallLog(options.log) if options.log else None,
        context_tokens=options.context_tokens,
        is_gullible=options.gullible,
        api_key=options.api_key,
        fault=fault,
    )
    server = ModelServer(simulation, options.port)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    print("This is a simulated model: there is no model behind it.", file=sys.stderr, flush=True)
    print(f"FOREBAY_MODEL_BASE_URL={server.base_url}", flush=True)
    with suppress(KeyboardInterrupt):
        server.serve()


def _parser(program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=program,
        description="A simulated OpenAI-compatible endpoint on loopback. There is no model behind"
        " it: it reads tidy documents by their labels, and every answer says so in its"
        ' "system_fingerprint". It holds its callers to limits as providers do. POST a fault to'
        " /lab/faults to have it befall the next call.",
    )
    parser.add_argument("--port", type=int, default=0, help="0 (default) takes a free one")
    parser.add_argument(
        "--limit",
        action="append",
        default=[],
        type=_limit,
        help="requests/minute=60, input_tokens/minute=40000:bucket, concurrent_calls=8; units are"
        " requests, tokens, input_tokens, output_tokens; periods are second, minute, hour, day or"
        " such as 6s; windows are strict, a bucket refills continuously and holds the amount, or"
        " so many times as much as a second colon says; may be repeated",
    )
    parser.add_argument("--log", type=Path, metavar="FILE", help="JSON lines: what was decided")
    pace = parser.add_argument_group("how long a call takes")
    pace.add_argument("--latency", type=_positive, default=0.2, help="seconds of every call")
    pace.add_argument("--input-rate", type=_positive, default=10_000, help="tokens read a second")
    pace.add_argument("--output-rate", type=_positive, default=200, help="tokens written a second")
    pace.add_argument("--speed", type=_positive, default=1, help="so many times as fast")
    parser.add_argument("--context-tokens", type=int, default=128_000, help="longest prompt")
    parser.add_argument("--api-key", help="the only key that is accepted; default: any")
    parser.add_argument("--gullible", action="store_true", help="obey what documents order")
    parser.add_argument("--fault", choices=KINDS, help="what befalls every call")
    parser.add_argument(
        "--seconds", type=float, default=1.0, help="how long slow, hang and trickle take"
    )
    return parser


def _limit(text: str) -> Limit:
    try:
        return Limit.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _positive(text: str) -> float:
    number = float(text)
    if not number > 0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


if __name__ == "__main__":
    main(program="python -m forebay_lab.model_server")
