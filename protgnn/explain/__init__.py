"""What a model knows and why it decides, in terms a person can check."""
