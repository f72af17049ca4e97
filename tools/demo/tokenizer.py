"""The demo model's tokenizer: byte-level BPE with the word splitting of llama.cpp's "qwen2" pre-tokenizer."""
import json
import random
import re
from collections import Counter
from pathlib import Path

from corpus import chat
from words import NOT_FOUND, OFF_TOPIC, SMALL_TALK

DEFAULT_PATH = Path(__file__).resolve().parent / "tokenizer.json"

# Words with one leading character that is no letter, single digits, runs of punctuation with the newlines behind them,
# newlines, spaces.
SPLIT = re.compile(r"'(?:[sS]|[tT]|[rR][eE]|[vV][eE]|[mM]|[lL][lL]|[dD])|(?:[^\r\n\w]|_)?[^\W\d_]+|\d|"
                   r" ?(?:[^\s\w]|_)+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def byte_alphabet():
    """GPT-2's table: byte -> a character that can be printed."""
    printable = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    table, extra = {}, 0
    for byte in range(256):
        if byte in printable:
            table[byte] = chr(byte)
        else:
            table[byte] = chr(256 + extra)
            extra += 1
    return table


CHAR_OF_BYTE = byte_alphabet()
BYTE_OF_CHAR = {char: byte for byte, char in CHAR_OF_BYTE.items()}


def symbols_of(word):
    return [CHAR_OF_BYTE[byte] for byte in word.encode()]


def merge(symbols, pair):
    """Joins every occurrence of the pair, from the left."""
    merged, i = [], 0
    while i < len(symbols):
        if i + 1 < len(symbols) and symbols[i] == pair[0] and symbols[i + 1] == pair[1]:
            merged.append(symbols[i] + symbols[i + 1])
            i += 2
        else:
            merged.append(symbols[i])
            i += 1
    return merged


def learn_merges(counts, limit):
    """The `limit` most frequent merges, ties in alphabetical order. `counts`: word -> weight."""
    words = {word: symbols_of(word) for word in counts}
    merges = []
    while len(merges) < limit:
        pairs = Counter()
        for word, symbols in words.items():
            for pair in zip(symbols, symbols[1:]):
                pairs[pair] += counts[word]
        if not pairs:
            break
        best = min(pairs.items(), key=lambda item: (-item[1], item[0]))[0]
        merges.append(best)
        for word, symbols in words.items():
            if best[0] in symbols:
                words[word] = merge(symbols, best)
    return merges


class Tokenizer:
    """Text <-> tokens, from a file that `learn` wrote."""

    def __init__(self, path=DEFAULT_PATH):
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        self.tokens = data["tokens"]
        self.merges = [tuple(pair.split(" ")) for pair in data["merges"]]
        self.id_of = {token: i for i, token in enumerate(self.tokens)}
        self.rank_of = {pair: i for i, pair in enumerate(self.merges)}
        self.end_of_text, self.turn_start, self.turn_end = (self.id_of[token] for token in SPECIAL)
        self._cache = {}

    def encode_word(self, word):
        symbols = symbols_of(word)
        while len(symbols) > 1:
            pair = min(zip(symbols, symbols[1:]), key=lambda p: self.rank_of.get(p, 1 << 30))
            if pair not in self.rank_of:
                break
            symbols = merge(symbols, pair)
        return [self.id_of[symbol] for symbol in symbols]

    def encode(self, text):
        ids = []
        for word in SPLIT.findall(text):
            known = self._cache.get(word)
            if known is None:
                known = self.encode_word(word)
                if len(self._cache) < 200000:
                    self._cache[word] = known
            ids += known
        return ids

    def encode_chat(self, messages):
        """Returns (ids, weights, spans).

        The weight is 1 for the tokens an assistant writes, its <|im_end|> included, and 0 for all others. A span is
        (begin, end, info) of one such answer.
        """
        ids, weights, spans = [], [], []
        for role, text, info in messages:
            head = [self.turn_start] + self.encode(role + "\n")
            body = self.encode(text) + [self.turn_end]
            if role == "assistant":
                spans.append((len(ids) + len(head), len(ids) + len(head) + len(body), info))
            else:  # encoded in one piece, as a server does
                head, body = [], [self.turn_start] + self.encode(role + "\n" + text) + [self.turn_end]
            newline = self.encode("\n")
            ids += head + body + newline
            weights += [0] * len(head) + [int(role == "assistant")] * len(body) + [0] * len(newline)
        return ids, weights, spans

    def decode(self, ids):
        raw = bytearray()
        for i in ids:
            token = self.tokens[i]
            raw += token.encode() if token in SPECIAL else bytes(BYTE_OF_CHAR[char] for char in token)
        return raw.decode(errors="replace")


def word_counts(seed):
    """How often each word occurs in 1,500 random chats, flattened so that rare words become single tokens too."""
    rng = random.Random(seed)
    counts = Counter()
    for _ in range(1500):
        for message in chat(rng, 40, 12, made_up=0.02):
            counts.update(SPLIT.findall(message.text))
    for role in ["system\n", "user\n", "assistant\n"]:
        counts.update({word: 5000 for word in SPLIT.findall(role)})
    for said, reply in SMALL_TALK + [(OFF_TOPIC, NOT_FOUND)]:
        for text in said + [reply]:
            counts.update({word: 200 for word in SPLIT.findall(text)})
    return Counter({word: int(count ** 0.5) + 1 for word, count in counts.items() if count > 3})


def learn(path, size=1536, seed=1):
    """Learns a vocabulary of `size` tokens, writes it to `path` and returns a summary for people."""
    counts = word_counts(seed)
    merges = learn_merges(counts, size - 256 - len(SPECIAL))
    tokens = [CHAR_OF_BYTE[byte] for byte in range(256)] + [a + b for a, b in merges] + SPECIAL
    assert len(set(tokens)) == len(tokens), "two merges make the same token"
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"tokens": tokens, "merges": [a + " " + b for a, b in merges]}, file, ensure_ascii=False)
    tokenizer = Tokenizer(path)
    lengths = Counter(len(tokenizer.encode_word(word)) for word in counts)
    return f"{len(tokens)} tokens; words by their number of tokens: {sorted(lengths.items())}"
