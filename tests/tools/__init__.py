"""What tests and people use on the whole app: benchmarks, a visitor, digests of all pages."""
