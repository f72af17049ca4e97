"""The demo model in plain PyTorch: a small hybrid of gated delta net and gated full attention (`qwen35` in llama.cpp).

The arithmetic is that of llama.cpp's src/models/qwen35.cpp, tensor by tensor, so that weights go into a GGUF file as
they are:

  * rows of attn_qkv: [q heads | k heads | v heads]; v head h uses k head h % number of k heads
  * rows of attn_q, per head: [query (head_dim) | gate (head_dim)]
  * ssm_a = -exp(A_log); the convolution's weight is [channel, tap], oldest tap first
  * partial NEOX rope on the first n_rot dimensions (for text all mrope sections are equal)
"""
import math
from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    """The shape of a model. Names are those of GGUF metadata where there is one."""

    n_vocab: int = 1536
    n_embd: int = 128
    n_layer: int = 6
    interval: int = 2          # each interval-th layer is full attention, the others are delta nets
    n_ff: int = 256
    n_head: int = 4            # of full attention
    n_head_kv: int = 2
    head_dim: int = 64
    n_rot: int = 16
    rope_base: float = 10000.0
    n_kv_state: int = 4        # heads of a delta net, k and v alike
    d_state: int = 32          # size of such a head
    d_conv: int = 4
    eps: float = 1e-6

    def is_recurrent(self, il):
        return (il + 1) % self.interval != 0


class RMSNorm(nn.Module):
    def __init__(self, n, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))
        self.eps = eps

    def forward(self, x):
        return x * (torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps)) * self.weight


def l2norm(x, eps):
    """As ggml_l2_norm: x / max(|x|, eps)."""
    return x / x.square().sum(-1, keepdim=True).clamp_min(eps * eps).sqrt()


class UnitLowerInverse(torch.autograd.Function):
    """(I + A)^-1 for strictly lower triangular A [..., C, C]. A is nilpotent, so doubling ends after log2(C) steps."""

    @staticmethod
    def forward(ctx, a):
        c = a.shape[-1]
        eye = torch.eye(c, dtype=a.dtype)
        p = -a
        inv = eye + p
        n = 2
        while n < c:
            p = p @ p
            inv = torch.baddbmm(inv, inv, p)
            n *= 2
        ctx.save_for_backward(inv)
        return inv

    @staticmethod
    def backward(ctx, grad):
        inv, = ctx.saved_tensors
        t = inv.transpose(-1, -2)
        return -(t @ grad @ t).tril(-1)


def gated_delta_rule(q, k, v, g, beta, state=None, chunk=32):
    """The gated delta rule, computed in chunks. q, k, v: [B, H, T, D]; g (log decay), beta: [B, H, T].

    What it computes, token by token:  S = exp(g) S;  S += k (beta (v - S^T k))^T;  o = S^T q / sqrt(D).
    Returns the outputs and the last state S.
    """
    B, H, T, D = q.shape
    pad = (-T) % chunk
    if pad:
        q, k, v = (F.pad(x, (0, 0, 0, pad)) for x in (q, k, v))
        g, beta = (F.pad(x, (0, pad)) for x in (g, beta))
    N = (T + pad) // chunk
    BH = B * H

    def chunks(x):  # -> [BH * N, chunk, ...]
        return x.reshape(BH * N, chunk, *x.shape[3:])

    q, k, v, g, beta = (chunks(x) for x in (q * D ** -0.5, k, v, g, beta))
    g = g.cumsum(-1)
    lower = torch.ones(chunk, chunk, dtype=torch.bool).tril()
    decay = (g.unsqueeze(-1) - g.unsqueeze(-2)).masked_fill(~lower, float("-inf")).exp()
    beta = beta.unsqueeze(-1)
    kb = k * beta
    kt = k.transpose(-1, -2)
    inv = UnitLowerInverse.apply((torch.bmm(kb, kt) * decay).tril(-1))
    eg = g.exp().unsqueeze(-1)
    uw = torch.bmm(inv, torch.cat([v * beta, kb * eg], -1))
    qk = torch.bmm(q, kt) * decay
    q = q * eg
    g_last = g[:, -1:].unsqueeze(-1)
    k = k * (g_last - g.unsqueeze(-1)).exp()
    g_last = g_last.exp()

    def steps(x):  # -> N tensors [BH, ...]
        return x.view(BH, N, *x.shape[1:]).unbind(1)

    S = q.new_zeros(BH, D, D) if state is None else state.reshape(BH, D, D)
    out = []
    for qn, kn, uwn, qkn, gn in zip(*(steps(x) for x in (q, k, uw, qk, g_last))):
        un, wn = uwn.split(D, -1)
        vn = un - torch.bmm(wn, S)
        out.append(torch.baddbmm(torch.bmm(qkn, vn), qn, S))
        S = torch.baddbmm(S * gn, kn.transpose(-1, -2), vn)
    o = torch.stack(out, 1).view(B, H, T + pad, D)[:, :, :T]
    return o, S.view(B, H, D, D)


class DeltaNet(nn.Module):
    """The recurrent layer: its state has one size, however long the text."""

    def __init__(self, c: Config):
        super().__init__()
        self.c = c
        d = c.n_kv_state * c.d_state
        self.qkv = nn.Linear(c.n_embd, 3 * d, bias=False)
        self.gate = nn.Linear(c.n_embd, d, bias=False)
        self.beta = nn.Linear(c.n_embd, c.n_kv_state, bias=False)
        self.alpha = nn.Linear(c.n_embd, c.n_kv_state, bias=False)
        self.conv = nn.Parameter(torch.zeros(3 * d, c.d_conv))
        self.A_log = nn.Parameter(torch.empty(c.n_kv_state).uniform_(1, 8).log())
        dt = torch.exp(torch.empty(c.n_kv_state).uniform_(math.log(0.002), math.log(0.2)))
        self.dt_bias = nn.Parameter(dt + torch.log(-torch.expm1(-dt)))
        self.norm = RMSNorm(c.d_state, c.eps)
        self.out = nn.Linear(d, c.n_embd, bias=False)
        nn.init.normal_(self.conv, std=0.2)
        with torch.no_grad():
            self.conv[:, -1] += 0.5

    def forward(self, x):
        c, (B, T, _) = self.c, x.shape
        H, D = c.n_kv_state, c.d_state
        qkv = F.pad(self.qkv(x), (0, 0, c.d_conv - 1, 0))
        w = self.conv.t()
        y = qkv[:, :T] * w[0]
        for i in range(1, c.d_conv):
            y = torch.addcmul(y, qkv[:, i:i + T], w[i])
        q, k, v = F.silu(y).view(B, T, 3, H, D).permute(2, 0, 3, 1, 4).unbind(0)
        q, k = l2norm(q, c.eps), l2norm(k, c.eps)
        beta = torch.sigmoid(self.beta(x)).transpose(1, 2)
        g = (-self.A_log.exp() * F.softplus(self.alpha(x) + self.dt_bias)).transpose(1, 2)
        o, _ = gated_delta_rule(q, k, v, g, beta)
        o = self.norm(o).transpose(1, 2).reshape(B, T, H * D)
        return self.out(o * F.silu(self.gate(x)))


class Attention(nn.Module):
    """Full attention with normed queries and keys, and a gate on its output."""

    def __init__(self, c: Config):
        super().__init__()
        self.c = c
        self.q = nn.Linear(c.n_embd, c.n_head * c.head_dim * 2, bias=False)
        self.k = nn.Linear(c.n_embd, c.n_head_kv * c.head_dim, bias=False)
        self.v = nn.Linear(c.n_embd, c.n_head_kv * c.head_dim, bias=False)
        self.q_norm = RMSNorm(c.head_dim, c.eps)
        self.k_norm = RMSNorm(c.head_dim, c.eps)
        self.out = nn.Linear(c.n_head * c.head_dim, c.n_embd, bias=False)

    @torch.no_grad()
    def mimetic_init(self):
        """Starts as a copier of what matches: W_q about W_k per head, and W_out W_v about the identity.

        Recall emerges much sooner from here than from independent random matrices.
        """
        c, D = self.c, self.c.head_dim
        q = self.q.weight.view(c.n_head, 2, D, c.n_embd)
        for h in range(c.n_head):
            kv = h // (c.n_head // c.n_head_kv)
            rows = slice(kv * D, (kv + 1) * D)
            q[h, 0] = self.k.weight[rows] + 0.3 * q[h, 0]
        q[:, 1] *= 0.3
        nn.init.orthogonal_(self.v.weight)
        for h in range(c.n_head):
            kv = h // (c.n_head // c.n_head_kv)
            self.out.weight[:, h * D:(h + 1) * D] = self.v.weight[kv * D:(kv + 1) * D].t() * 0.5

    def rope(self, x, cos, sin):
        r = self.c.n_rot // 2
        a, b, rest = x[..., :r], x[..., r:2 * r], x[..., 2 * r:]
        return torch.cat([a * cos - b * sin, a * sin + b * cos, rest], -1)

    def forward(self, x):
        c, (B, T, _) = self.c, x.shape
        q, gate = self.q(x).view(B, T, c.n_head, 2 * c.head_dim).split(c.head_dim, -1)
        q = self.q_norm(q).transpose(1, 2)
        k = self.k_norm(self.k(x).view(B, T, c.n_head_kv, c.head_dim)).transpose(1, 2)
        v = self.v(x).view(B, T, c.n_head_kv, c.head_dim).transpose(1, 2)
        inv = c.rope_base ** (-torch.arange(0, c.n_rot, 2, dtype=torch.get_default_dtype()) / c.n_rot)
        ang = torch.arange(T, dtype=torch.get_default_dtype())[:, None] * inv
        cos, sin = ang.cos(), ang.sin()
        q, k = self.rope(q, cos, sin) * c.head_dim ** -0.5, self.rope(k, cos, sin)
        G = c.n_head // c.n_head_kv  # query head h uses kv head h // G
        k = k.repeat_interleave(G, 1).reshape(B * c.n_head, T, c.head_dim).transpose(1, 2)
        v = v.repeat_interleave(G, 1).reshape(B * c.n_head, T, c.head_dim)
        q = q.reshape(B * c.n_head, T, c.head_dim)
        out, step = [], 256  # blocks of queries, each with the keys up to its end
        for s in range(0, T, step):
            e = min(T, s + step)
            att = torch.bmm(q[:, s:e], k[:, :, :e])
            mask = torch.full((e - s, e - s), float("-inf")).triu(1)
            if s:
                mask = F.pad(mask, (s, 0))
            out.append(torch.bmm(torch.softmax(att + mask, -1), v[:, :e]))
        o = torch.cat(out, 1).view(B, c.n_head, T, c.head_dim).transpose(1, 2)
        return self.out((o * torch.sigmoid(gate)).reshape(B, T, -1))


class Block(nn.Module):
    """One layer: mixing over tokens, then a gated feed-forward network."""

    def __init__(self, c: Config, il):
        super().__init__()
        self.attn_norm = RMSNorm(c.n_embd, c.eps)
        self.mix = DeltaNet(c) if c.is_recurrent(il) else Attention(c)
        self.post_norm = RMSNorm(c.n_embd, c.eps)
        self.gate_up = nn.Linear(c.n_embd, 2 * c.n_ff, bias=False)  # [gate | up]
        self.down = nn.Linear(c.n_ff, c.n_embd, bias=False)

    def forward(self, x):
        x = x + self.mix(self.attn_norm(x))
        g, u = self.gate_up(self.post_norm(x)).chunk(2, -1)
        return x + self.down(F.silu(g) * u)


class Model(nn.Module):
    """Embedding, blocks, norm; the output head is the embedding again."""

    def __init__(self, c: Config, mimetic=True):
        super().__init__()
        self.c = c
        self.embd = nn.Embedding(c.n_vocab, c.n_embd)
        self.blocks = nn.ModuleList(Block(c, i) for i in range(c.n_layer))
        self.norm = RMSNorm(c.n_embd, c.eps)
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, std=m.in_features ** -0.5)
        nn.init.normal_(self.embd.weight, std=0.25)
        nn.init.constant_(self.norm.weight, 0.3)
        for b in self.blocks:
            for lin in (b.mix.out, b.down):
                with torch.no_grad():
                    lin.weight.mul_(0.5 * (2 * c.n_layer) ** -0.5)
        if mimetic:
            for b in self.blocks:
                if isinstance(b.mix, Attention):
                    b.mix.mimetic_init()

    def hidden(self, ids):
        x = self.embd(ids)
        for b in self.blocks:
            x = b(x)
        return self.norm(x)

    def forward(self, ids):
        return F.linear(self.hidden(ids), self.embd.weight)


def save(model, path, **extra):
    """Writes a checkpoint: the shape, the weights, and whatever `extra` names."""
    torch.save({"config": asdict(model.c), "state": model.state_dict(), **extra}, path)


def load(path):
    """The model of a checkpoint, ready to answer."""
    data = torch.load(path, map_location="cpu")
    model = Model(Config(**data["config"]))
    model.load_state_dict(data["state"])
    return model.eval()
