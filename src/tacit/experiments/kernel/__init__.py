"""The paper `kernel`: very wide linear RNNs behave like a scaled convolution."""
