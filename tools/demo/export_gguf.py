#!/usr/bin/env python3
"""Writes a checkpoint of train.py as a GGUF file of the architecture qwen35.

Needs PyTorch, numpy and llama.cpp's Python package: PYTHONPATH=<llama.cpp>/gguf-py
"""
import argparse

import gguf
import numpy as np

import model
from tokenizer import DEFAULT_PATH, SPECIAL, Tokenizer

CHAT_TEMPLATE = (
    "{%- for message in messages %}"
    "{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"
)


def add_metadata(writer, net, file_type, context):
    c = net.c
    writer.add_name("Handbook demo")
    writer.add_description("Tiny hybrid trained on synthetic handbooks; answers questions about its context")
    writer.add_license("cc0-1.0")
    writer.add_size_label(f"{sum(p.numel() for p in net.parameters()) / 1e6:.1f}M")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16 if file_type == "f16" else gguf.LlamaFileType.ALL_F32)
    writer.add_context_length(context)
    writer.add_embedding_length(c.n_embd)
    writer.add_block_count(c.n_layer)
    writer.add_feed_forward_length(c.n_ff)
    writer.add_head_count(c.n_head)
    writer.add_head_count_kv(c.n_head_kv)
    writer.add_key_length(c.head_dim)
    writer.add_value_length(c.head_dim)
    writer.add_layer_norm_rms_eps(c.eps)
    writer.add_rope_dimension_count(c.n_rot)
    pairs = c.n_rot // 2  # for text, any split that covers all pairs gives the same numbers
    writer.add_rope_dimension_sections([(pairs + 2) // 3, (pairs + 1) // 3, pairs // 3, 0])
    writer.add_rope_freq_base(c.rope_base)
    writer.add_full_attention_interval(c.interval)
    writer.add_ssm_conv_kernel(c.d_conv)
    writer.add_ssm_state_size(c.d_state)
    writer.add_ssm_group_count(c.n_kv_state)     # k heads
    writer.add_ssm_time_step_rank(c.n_kv_state)  # v heads
    writer.add_ssm_inner_size(c.n_kv_state * c.d_state)


def add_tokenizer(writer, tokenizer):
    types = [gguf.TokenType.CONTROL if t in SPECIAL else gguf.TokenType.NORMAL for t in tokenizer.tokens]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokenizer.tokens)
    writer.add_token_types(types)
    writer.add_token_merges([" ".join(pair) for pair in tokenizer.merges])
    writer.add_eos_token_id(tokenizer.turn_end)
    writer.add_pad_token_id(tokenizer.end_of_text)
    writer.add_eot_token_id(tokenizer.turn_end)
    writer.add_add_bos_token(False)
    writer.add_chat_template(CHAT_TEMPLATE)


def add_tensors(writer, net, file_type):
    def put(name, tensor, f32=False):
        dtype = np.float32 if f32 or file_type == "f32" else np.float16
        writer.add_tensor(name, np.ascontiguousarray(tensor.detach().numpy().astype(dtype)))

    put("token_embd.weight", net.embd.weight)  # the output head too
    put("output_norm.weight", net.norm.weight, f32=True)
    for i, block in enumerate(net.blocks):
        prefix = f"blk.{i}."
        put(prefix + "attn_norm.weight", block.attn_norm.weight, f32=True)
        put(prefix + "post_attention_norm.weight", block.post_norm.weight, f32=True)
        gate, up = block.gate_up.weight.chunk(2, 0)
        put(prefix + "ffn_gate.weight", gate)
        put(prefix + "ffn_up.weight", up)
        put(prefix + "ffn_down.weight", block.down.weight)
        mix = block.mix
        if net.c.is_recurrent(i):
            put(prefix + "attn_qkv.weight", mix.qkv.weight)
            put(prefix + "attn_gate.weight", mix.gate.weight)
            put(prefix + "ssm_conv1d.weight", mix.conv, f32=True)
            put(prefix + "ssm_dt.bias", mix.dt_bias, f32=True)
            put(prefix + "ssm_a", -mix.A_log.exp(), f32=True)
            put(prefix + "ssm_beta.weight", mix.beta.weight)
            put(prefix + "ssm_alpha.weight", mix.alpha.weight)
            put(prefix + "ssm_norm.weight", mix.norm.weight, f32=True)
            put(prefix + "ssm_out.weight", mix.out.weight)
        else:
            put(prefix + "attn_q.weight", mix.q.weight)
            put(prefix + "attn_k.weight", mix.k.weight)
            put(prefix + "attn_v.weight", mix.v.weight)
            put(prefix + "attn_q_norm.weight", mix.q_norm.weight, f32=True)
            put(prefix + "attn_k_norm.weight", mix.k_norm.weight, f32=True)
            put(prefix + "attn_output.weight", mix.out.weight)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", help="what train.py wrote")
    parser.add_argument("out", help="GGUF file to write")
    parser.add_argument("--type", choices=["f32", "f16"], default="f16", help="of the matrices (default: %(default)s)")
    parser.add_argument("--tokenizer", default=DEFAULT_PATH, help="(default: %(default)s)")
    parser.add_argument("--context", type=int, default=8192, help="context length to claim (default: %(default)s)")
    args = parser.parse_args()

    net = model.load(args.checkpoint)
    writer = gguf.GGUFWriter(args.out, "qwen35")
    add_metadata(writer, net, args.type, args.context)
    add_tokenizer(writer, Tokenizer(args.tokenizer))
    add_tensors(writer, net, args.type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
