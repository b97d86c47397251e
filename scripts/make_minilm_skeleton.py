"""Build the graph of all-MiniLM-L6-v2 without its weights, as the embedder ships it.

Needs the ``onnx`` package; running the model does not. The graph takes the summed embeddings of one text
(tokens × 384) and gives the last hidden states (tokens × 384) and their mean (384). Every weight is an initializer with
external data, named as in the safetensors file: it is a file of its name, supplied when a session is opened. A test
builds the graph again and compares it.

``pair``: whether it is a question and a text that are read together. Then each matrix of the upper layers has a product
of two thin ones added (low-rank adaptation, Hu et al. 2021), whose weights ``bench/fit_reader.py`` fits; one text alone
pays nothing for it.
"""

from pathlib import Path

from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

HIDDEN, HEADS, INNER, LAYERS = 384, 12, 1536, 6
ADAPTED_FROM, RANK = 3, 16
TARGET = Path(__file__).parent.parent / "src/clearcite/adapters/embedders/minilm_skeleton.onnx"


class Builder:
    """Collects nodes and the weights they name."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.weights: dict[str, tuple[int, ...]] = {}

    def node(self, kind: str, inputs: list[str], **attributes: object) -> str:
        output = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def weight(self, name: str, *shape: int) -> str:
        self.weights[name] = shape
        return name

    def dense(self, name: str, value: str, inner: int, outer: int) -> str:
        weight, bias = self.weight(f"{name}.weight", outer, inner), self.weight(f"{name}.bias", outer)
        plain = self.node("Gemm", [value, weight, bias], transB=1)
        return self._adapted(f"reader.{name}", value, plain, inner, outer) if _is_adapted(name) else plain

    def _adapted(self, name: str, value: str, plain: str, inner: int, outer: int) -> str:
        down, up = self.weight(f"{name}.down", RANK, inner), self.weight(f"{name}.up", outer, RANK)
        output = f"v{len(self.nodes)}"
        thin, whole, same = f"{output}.thin", f"{output}.whole", f"{output}.same"
        added = [
            helper.make_node("Gemm", [value, down], [thin], transB=1),
            helper.make_node("Gemm", [thin, up, plain], [whole], transB=1),
        ]
        kept = [helper.make_node("Identity", [plain], [same])]
        return self.node(
            "If",
            ["pair"],
            then_branch=helper.make_graph(added, "pair", [], [_states(whole, outer)]),
            else_branch=helper.make_graph(kept, "one", [], [_states(same, outer)]),
        )

    def norm(self, name: str, value: str) -> str:
        scale, bias = self.weight(f"{name}.weight", HIDDEN), self.weight(f"{name}.bias", HIDDEN)
        return self.node("LayerNormalization", [value, scale, bias], axis=-1, epsilon=1e-12)


def build() -> ModelProto:
    graph = Builder()
    value = graph.norm("embeddings.LayerNorm", "embeddings")
    for layer in range(LAYERS):
        value = _layer(graph, f"encoder.layer.{layer}", value)
    graph.nodes[-1].output[0] = value = "states"
    graph.nodes.append(helper.make_node("ReduceMean", [value], ["sentence"], axes=[0], keepdims=0))
    made = helper.make_graph(
        graph.nodes,
        "all-MiniLM-L6-v2",
        [
            _states("embeddings", HIDDEN),
            helper.make_tensor_value_info("pair", TensorProto.BOOL, []),
        ],
        [
            helper.make_tensor_value_info("sentence", TensorProto.FLOAT, [HIDDEN]),
            _states("states", HIDDEN),
        ],
        initializer=[_external(name, shape) for name, shape in graph.weights.items()] + _constants(),
    )
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(made, opset_imports=opsets, ir_version=8, producer_name="clearcite")


def _is_adapted(name: str) -> bool:
    return int(name.split(".")[2]) >= ADAPTED_FROM


def _layer(graph: Builder, name: str, value: str) -> str:
    attended = graph.dense(f"{name}.attention.output.dense", _attention(graph, name, value), HIDDEN, HIDDEN)
    value = graph.norm(f"{name}.attention.output.LayerNorm", graph.node("Add", [attended, value]))
    inner = graph.dense(f"{name}.intermediate.dense", value, HIDDEN, INNER)
    half = graph.node("Mul", [inner, "half"])
    error = graph.node("Erf", [graph.node("Mul", [inner, "inverse_root_2"])])
    active = graph.node("Mul", [half, graph.node("Add", [error, "one"])])
    outer = graph.dense(f"{name}.output.dense", active, INNER, HIDDEN)
    return graph.norm(f"{name}.output.LayerNorm", graph.node("Add", [outer, value]))


def _attention(graph: Builder, name: str, value: str) -> str:
    def heads(part: str, order: list[int]) -> str:
        dense = graph.dense(f"{name}.attention.self.{part}", value, HIDDEN, HIDDEN)
        return graph.node("Transpose", [graph.node("Reshape", [dense, "by_head"])], perm=order)

    query, key, content = heads("query", [1, 0, 2]), heads("key", [1, 2, 0]), heads("value", [1, 0, 2])
    scores = graph.node("Mul", [graph.node("MatMul", [query, key]), "inverse_root_head"])
    mixed = graph.node("MatMul", [graph.node("Softmax", [scores], axis=-1), content])
    return graph.node("Reshape", [graph.node("Transpose", [mixed], perm=[1, 0, 2]), "joined"])


def _states(name: str, dims: int) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["tokens", dims])


def _external(name: str, shape: tuple[int, ...]) -> TensorProto:
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape)
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=name)
    return tensor


def _constants() -> list[TensorProto]:
    numbers = {
        "half": 0.5,
        "one": 1.0,
        "inverse_root_2": 2**-0.5,
        "inverse_root_head": (HIDDEN // HEADS) ** -0.5,
    }
    shapes = {"by_head": [0, HEADS, HIDDEN // HEADS], "joined": [0, HIDDEN]}
    return [
        *(helper.make_tensor(name, TensorProto.FLOAT, [], [number]) for name, number in numbers.items()),
        *(helper.make_tensor(name, TensorProto.INT64, [len(shape)], shape) for name, shape in shapes.items()),
    ]


def main() -> None:
    model = build()
    TARGET.write_bytes(model.SerializeToString(deterministic=True))
    print(f"{TARGET.name}: {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
