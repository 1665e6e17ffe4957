"""Independent engines and other helpers of the tests."""
