from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bpgnn.model_selection.fitting import fit_whole, found_labels, node_classifier


def test_without_a_graph_any_estimator_with_fit_will_do(recorder, blocks):
    X, y, _ = blocks
    assert fit_whole(recorder, X, y, None) is recorder
    assert recorder.calls[0][2] is None


def test_the_end_of_a_pipeline_is_what_labels_nodes(recorder, blocks):
    X, y, graph = blocks
    pipeline = fit_whole(make_pipeline(StandardScaler(), recorder), X, y, graph)
    assert node_classifier(pipeline) is recorder
    assert node_classifier(recorder) is recorder
    assert len(found_labels(pipeline)) == len(y)
