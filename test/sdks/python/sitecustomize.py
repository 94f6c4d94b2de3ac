"""Python runs this file at its start. The clients live for seconds, and collecting garbage takes a fifth of their time."""

import gc

gc.disable()
