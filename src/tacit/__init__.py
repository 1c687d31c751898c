"""What gradient descent does without being told."""
