//! Services that run models.

super::patterns! { RULES:
    Certain "an Anthropic key", ["sk-ant-"], r"\bsk-ant-(?:[a-z0-9]+-)?[A-Za-z0-9_-]{20,}";
    Certain "an OpenRouter key", ["sk-or-"], r"\bsk-or-(?:v1-)?[A-Za-z0-9]{32,}";
    Certain "an OpenAI key", ["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-none-", "t3blbkfj"], r"\bsk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}|\bsk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}";
    Certain "a LangSmith key", ["lsv2_"], r"\blsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}";
    Certain "a Langfuse key", ["sk-lf-"], r"\bsk-lf-[0-9a-f-]{36}";
    Random "an API key", ["sk-"], r"\b(sk-[A-Za-z0-9_-]{0,12}[A-Za-z0-9]{20,})\b";
    Certain "a Groq key", ["gsk_"], r"\b(gsk_[A-Za-z0-9]{40,})\b";
    Certain "an xAI key", ["xai-"], r"\b(xai-[A-Za-z0-9]{60,})\b";
    Certain "a Perplexity key", ["pplx-"], r"\b(pplx-[A-Za-z0-9]{40,})\b";
    Certain "a Hugging Face token", ["hf_", "api_org_"], r"\b((?:hf|api_org)_[A-Za-z0-9]{30,})\b";
    Certain "a Replicate token", ["r8_"], r"\b(r8_[A-Za-z0-9]{37,40})\b";
    Certain "a Fireworks key", ["fw_"], r"\b(fw_[A-Za-z0-9]{20,})\b";
    Certain "a Cerebras key", ["csk-"], r"\b(csk-[a-z0-9]{40,})\b";
    Certain "an NVIDIA key", ["nvapi-"], r"\bnvapi-[A-Za-z0-9_-]{50,}";
    Certain "a Voyage or Jina key", ["pa-", "jina_"], r"\b(jina_[A-Za-z0-9]{40,}|pa-[A-Za-z0-9_-]{43})\b";
    Certain "a Tavily key", ["tvly-"], r"\btvly-(?:dev-|prod-)?[A-Za-z0-9]{20,}";
    Certain "a Pinecone key", ["pcsk_"], r"\bpcsk_[A-Za-z0-9_]{40,}";
    Certain "a Firecrawl key", ["fc-"], r"\b(fc-[0-9a-f]{32})\b";
    Certain "an E2B or Modal token", ["e2b_", "ak-", "as-"], r"\b(e2b_[0-9a-f]{40}|a[ks]-[A-Za-z0-9]{22})\b";
    Certain "a RunPod key", ["rpa_"], r"\b(rpa_[A-Z0-9]{40,}[a-z0-9]*)\b";
    Certain "an ElevenLabs key", ["sk_"], r"\b(sk_[0-9a-f]{48})\b";
    Certain "a Together key", ["tgp_v1_"], r"\btgp_v1_[A-Za-z0-9_-]{40,}";
}
