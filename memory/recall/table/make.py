"""Makes words.bin, the table of word vectors that is in the program (R14).

    pip download --no-deps wordllama==0.4.0.post1 && unzip wordllama-*.whl -d wheel
    python make.py wheel words.bin

It needs numpy. The vectors are WordLlama's (MIT, see NOTICE): 32,000 pieces of
words, 256 numbers each. Kept are three bits a number. Eight levels that are
best for a bell curve and one scale a piece cost nothing that the sets of
docs/BENCHMARKS.md can tell, and all 256 numbers at three bits find more than 64
numbers at eight.

The file: "EFWT", version, bits (a byte each), dims (u16), pieces (u32); then for
each piece, in the order of their bytes: its rank (u16, lower is joined
sooner), its length (u8), its bytes; then for each piece in the same order its
scale (f32); then its numbers, the first in the lowest bits. Little-endian.
"""

import json
import struct
import sys
from pathlib import Path

import numpy as np

BITS = 3
HALF = np.array([0.2451, 0.7560, 1.344, 2.152], dtype=np.float32)
LEVELS = np.concatenate([-HALF[::-1], HALF])
# Control tokens and single bytes are no pieces of words.
FIRST_PIECE = 259


def tensor(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    about = json.loads(data[8 : 8 + size])["embedding.weight"]
    begin, end = about["data_offsets"]
    values = np.frombuffer(data[8 + size + begin : 8 + size + end], dtype=np.float16)
    return values.reshape(about["shape"]).astype(np.float32)


def quantised(rows):
    spread = np.sqrt((rows**2).mean(axis=1, keepdims=True))
    spread[spread == 0] = 1
    codes = np.searchsorted((LEVELS[1:] + LEVELS[:-1]) / 2, rows / spread).astype(np.uint8)
    near = LEVELS[codes]
    scales = (rows * near).sum(axis=1) / (near * near).sum(axis=1)
    return codes, scales.astype(np.float32)


def main(wheel, out):
    weights = tensor(wheel / "wordllama/weights/l2_supercat_256.safetensors")
    config = wheel / "wordllama/tokenizers/l2_supercat_tokenizer_config.json"
    vocabulary = json.loads(config.read_text())["model"]["vocab"]
    pieces = sorted(
        (text.encode(), rank) for text, rank in vocabulary.items() if rank >= FIRST_PIECE
    )
    codes, scales = quantised(weights[[rank for _, rank in pieces]])
    bits = ((codes[:, :, None] >> np.arange(BITS)) & 1).reshape(len(pieces), -1)
    packed = np.packbits(bits, axis=1, bitorder="little")
    file = bytearray(b"EFWT" + struct.pack("<BBHI", 1, BITS, weights.shape[1], len(pieces)))
    for text, rank in pieces:
        file += struct.pack("<HB", rank, len(text)) + text
    file += scales.astype("<f4").tobytes() + packed.tobytes()
    out.write_bytes(file)
    print(f"{len(pieces)} pieces, {len(file)} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
