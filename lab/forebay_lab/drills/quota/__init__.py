"""The drill of quotas: tasks through real dispatchers, judged by the log of the provider.

A simulated model server enforces a budget of tokens and a number of concurrent calls, and writes
down every call. What it refused, what was used, and who waited is read from that log alone.
"""
