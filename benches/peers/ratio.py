"""The ratio of two programs, which the tables and the plot show."""

from statistics import median


def ratio_of(results, workload, of, to):
    """The median of the ratios of two programs in the same rounds, or none."""
    of, to = rounds_of(results, workload, of), rounds_of(results, workload, to)
    pairs = [a / b for a, b in zip(of, to) if a and b]
    return median(pairs) if pairs else None


def rounds_of(results, workload, program):
    cell = results["workloads"][workload][program]
    if "same" in cell:
        cell = results["workloads"][cell["same"]][program]
    return cell.get("rounds", [])
