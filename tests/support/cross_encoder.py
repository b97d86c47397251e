"""A cross-encoder of three nodes for tests: the score is the sum of a weight for each piece that is read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def write_cross_encoder(folder: Path, weights: Mapping[str, float], name: str = "input_ids") -> Path:
    """``weights``: of each word that it knows; the rest weighs nothing. The folder, made anew."""
    folder.mkdir()
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in (*MARKS, *weights)), encoding="utf-8")
    table = np.array([0.0] * len(MARKS) + list(weights.values()), np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["table", name], ["rows"]),
            helper.make_node("ReduceSum", ["rows", "axis"], ["logits"], keepdims=1),
        ],
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])],
        initializer=[
            numpy_helper.from_array(table, "table"),
            numpy_helper.from_array(np.array([1], np.int64), "axis"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    return folder
