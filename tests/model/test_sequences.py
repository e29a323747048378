import torch

from model.sequences import pad, source_sequence, target_sequence


def test_padding_goes_to_the_right_up_to_the_longest():
    assert pad([[4, 5], [6], []]).tolist() == [[4, 5], [6, 0], [0, 0]]
    assert pad([[4, 5]], length=4).tolist() == [[4, 5, 0, 0]]
    assert pad([[4, 5, 6]], length=2).tolist() == [[4, 5, 6]]


def test_ids_are_whole_numbers_even_where_there_are_none():
    assert pad([[4]]).dtype == torch.long
    assert pad([[]], length=2).dtype == torch.long


def test_the_encoder_reads_an_end_and_the_decoder_a_start():
    assert source_sequence([7, 8]) == [7, 8, 3]
    assert target_sequence([7, 8]) == [2, 7, 8]
