"""What attempts used by their MLflow traces: found, read and recorded beside what they reported.

`mlflow_settings` is for whoever writes traces too; only `mlflow_store` imports MLflow.
"""
