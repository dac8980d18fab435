"""The instructions of compiled code that learns, as Numba generates them."""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING, Any, Final

from llvmlite import binding, ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import models, register_model

from fiveup_env.learning.lanes import EIGHT, SIXTEEN
from fiveup_env.learning.threads import COME, STOPPED

if TYPE_CHECKING:
    from collections.abc import Callable


class _Numbers(types.Type):
    """The type of several numbers."""

    def __init__(self, of: types.Float, count: int) -> None:
        self.of, self.count = of, count
        super().__init__(f"{count} x {of}")


@register_model(_Numbers)
class _NumbersModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: _Numbers) -> None:
        number = ir.DoubleType() if kind.of.bitwidth == 64 else ir.FloatType()
        super().__init__(manager, kind, ir.VectorType(number, kind.count))


def _place(context: Any, builder: Any, kind: Any, where: Any, count: int) -> Any:
    array, i, j = where
    struct = context.make_array(kind)(context, builder, array)
    first = cgutils.get_item_pointer(context, builder, kind, struct, [i, j])
    vector = ir.VectorType(context.get_data_type(kind.dtype), count)
    return builder.bitcast(first, vector.as_pointer())


def _of(array: Any, count: int) -> _Numbers:
    if not (isinstance(array, types.Array) and array.ndim == 2 and array.layout == "C"):
        raise TypingError(f"such numbers are in the rows of a contiguous table, not in {array}")
    return _Numbers(array.dtype, count)


def _load(array: Any, count: int) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], arguments, count)
        return builder.load(place, align=array.dtype.bitwidth // 8)

    return _of(array, count)(array, types.int64, types.int64), generate


def eight(_context: Any, array: Any, _i: Any, _j: Any) -> Any:
    return _load(array, EIGHT)


def sixteen(_context: Any, array: Any, _i: Any, _j: Any) -> Any:
    return _load(array, SIXTEEN)


def put(_context: Any, array: Any, _i: Any, _j: Any, numbers: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], arguments[:3], numbers.count)
        builder.store(arguments[3], place, align=array.dtype.bitwidth // 8)

    return types.void(array, types.int64, types.int64, numbers), generate


def grown(_context: Any, total: Any, scale: Any, numbers: Any) -> Any:
    taken = scale if isinstance(scale, _Numbers) else numbers.of

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        first, by, second = arguments
        if taken is not numbers:
            by = _everywhere(builder, by, second.type)
        return builder.fadd(first, builder.fmul(by, second))

    return total(total, taken, numbers), generate


def _everywhere(builder: Any, number: Any, vector: Any) -> Any:
    unset = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(unset, number, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), None)
    return builder.shuffle_vector(first, unset, zeros)


def zeros_like(_context: Any, array: Any) -> Any:
    def generate(context: Any, _builder: Any, signature: Any, _arguments: Any) -> Any:
        return ir.Constant(context.get_value_type(signature.return_type), None)

    return _of(array, EIGHT)(array), generate


def sum_of(_context: Any, numbers: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        each = [builder.extract_element(arguments[0], ir.IntType(32)(k)) for k in range(EIGHT)]
        while len(each) > 1:
            each = [builder.fadd(*each[k : k + 2]) for k in range(0, len(each), 2)]
        return each[0]

    return numbers.of(numbers), generate


GIVE_WAY: Final = "fiveup_give_way"


def _give_way_address() -> int:
    if sys.platform == "win32":
        function = ctypes.windll.kernel32.SwitchToThread
    else:
        function = ctypes.CDLL(None).sched_yield
    return ctypes.cast(function, ctypes.c_void_p).value or 0


binding.add_symbol(GIVE_WAY, _give_way_address())


def give_way(_context: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, GIVE_WAY), [])

    return types.void(), generate


def _number(context: Any, builder: Any, kind: Any, gate: Any, k: int) -> Any:
    """Return the address of a number of a gate."""
    data = context.make_array(kind)(context, builder, gate).data
    return builder.gep(data, [context.get_constant(types.intp, k)])


def come(_context: Any, gate: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _number(context, builder, signature.args[0], arguments[0], COME)
        return builder.atomic_rmw("add", place, ir.IntType(64)(1), "seq_cst")

    return types.int64(gate), generate


def _seen(k: int) -> Callable[[Any, Any], Any]:
    def instruction(_context: Any, gate: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place = _number(context, builder, signature.args[0], arguments[0], k)
            return builder.load_atomic(place, "seq_cst", 8)

        return types.int64(gate), generate

    return instruction


come_so_far, is_stopped = _seen(COME), _seen(STOPPED)
