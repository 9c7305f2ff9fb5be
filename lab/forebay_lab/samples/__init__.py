"""Write a folder of sample documents, each with the truth about what it says.

The same bytes come out every time. People, firms and sums are made up.
"""

from forebay_lab.samples.sample import DEMO, Priority, Sample, names, write_samples

__all__ = ["DEMO", "Priority", "Sample", "names", "write_samples"]
