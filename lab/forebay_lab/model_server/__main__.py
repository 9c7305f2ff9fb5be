"""Run the simulated endpoint: `python -m forebay_lab.model_server --port 0`."""

import argparse
from contextlib import suppress

from forebay_lab.model_server import Fault, ModelServer, Simulation
from forebay_lab.model_server.faults import KINDS


def main(arguments: list[str] | None = None) -> None:
    """Serve until interrupted, after one line that says where."""
    options = _parser().parse_args(arguments)
    fault = Fault(options.fault, seconds=options.seconds) if options.fault else None
    simulation = Simulation(
        latency=options.latency,
        context_tokens=options.context_tokens,
        is_gullible=options.gullible,
        api_key=options.api_key,
        fault=fault,
    )
    server = ModelServer(simulation, options.port)
    print(f"FOREBAY_MODEL_BASE_URL={server.base_url}", flush=True)
    with suppress(KeyboardInterrupt):
        server.serve()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m forebay_lab.model_server",
        description="A simulated OpenAI-compatible endpoint on loopback. There is no model behind"
        " it: it reads tidy documents by their labels, and every answer says so in its"
        ' "system_fingerprint". POST a fault to /lab/faults to have it befall the next call.',
    )
    parser.add_argument("--port", type=int, default=0, help="0 (default) takes a free one")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument("--context-tokens", type=int, default=128_000, help="longest prompt")
    parser.add_argument("--api-key", help="the only key that is accepted; default: any")
    parser.add_argument("--gullible", action="store_true", help="obey what documents order")
    parser.add_argument("--fault", choices=KINDS, help="what befalls every call")
    parser.add_argument(
        "--seconds", type=float, default=1.0, help="how long slow, hang and trickle take"
    )
    return parser


if __name__ == "__main__":
    main()
