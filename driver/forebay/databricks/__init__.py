"""What speaks with a Databricks workspace, through its SDK: the extra `databricks`.

The SDK takes a second or two to import: only what uses it imports these modules.
"""
