"""`python -m tailback` is the program."""

import os
import sys

from .errors import ProgramNotFound
from .program import find

try:
    program = str(find())
except ProgramNotFound as error:
    sys.exit(f"error: {error}")
os.execv(program, [program, *sys.argv[1:]])
