import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading

from bpgnn.errors import InputError
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


def test_the_graph_reaches_the_end_of_a_pipeline_under_metadata_routing_too(recorder, blocks):
    X, y, graph = blocks
    with sklearn.config_context(enable_metadata_routing=True):
        fit_whole(make_pipeline(StandardScaler(), recorder), X, y, graph)
        fit_whole(recorder, X, y, graph)
    assert [call[2] is graph for call in recorder.calls] == [True, True]


def test_what_takes_no_graph_is_refused_with_a_sentence(blocks):
    X, y, graph = blocks
    for estimator in (LabelSpreading(), make_pipeline(StandardScaler(), LabelSpreading())):
        with pytest.raises(InputError, match="LabelSpreading takes no graph.*Leave the graph out"):
            fit_whole(estimator, X, y, graph)
