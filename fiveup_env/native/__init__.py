"""How a function is compiled, or found compiled: one decorator, two engines.

Files:

    functions     the decorators
    kinds         what a function takes and returns
    instructions  what is one instruction in compiled code; `code` generates them
    library       the functions of the library that was built of this source
    dispatchers   functions as Numba compiles them
    interpreted   functions as Python
    sources       digests of what code is made from
"""

from fiveup_env.native.functions import compiled, inlined, inner, instruction
from fiveup_env.native.instructions import (
    array_in,
    bit_count,
    bits_of,
    float_of,
    lowest_bit,
    not_zero,
    prefetch,
    same,
    signed,
)
from fiveup_env.native.interpreted import uncompiled
from fiveup_env.native.kinds import (
    Array,
    BoolRows,
    Bools,
    Bytes,
    DoubleRows,
    Doubles,
    DoubleTables,
    Entries,
    FloatRows,
    Floats,
    FloatTables,
    Int8Rows,
    Int8s,
    Int16s,
    Int32Rows,
    Int32s,
    Int64Rows,
    Int64s,
    Mask,
    Struct,
    Uint16s,
    Uint32s,
    Word,
    Words,
    read_only,
)

__all__ = [
    "Array",
    "BoolRows",
    "Bools",
    "Bytes",
    "DoubleRows",
    "DoubleTables",
    "Doubles",
    "Entries",
    "FloatRows",
    "FloatTables",
    "Floats",
    "Int8Rows",
    "Int8s",
    "Int16s",
    "Int32Rows",
    "Int32s",
    "Int64Rows",
    "Int64s",
    "Mask",
    "Struct",
    "Uint16s",
    "Uint32s",
    "Word",
    "Words",
    "array_in",
    "bit_count",
    "bits_of",
    "compiled",
    "float_of",
    "inlined",
    "inner",
    "instruction",
    "lowest_bit",
    "not_zero",
    "prefetch",
    "read_only",
    "same",
    "signed",
    "uncompiled",
]
