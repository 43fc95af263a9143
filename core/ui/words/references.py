"""The sources that pages follow, with where to find them."""

from __future__ import annotations

from typing import Final, NamedTuple

import streamlit as st


class Source(NamedTuple):
    """One source. `where` is a DOI, an arXiv number, an ISBN or an address, shown as text."""

    authors: str
    year: str
    title: str
    published: str  # and the part that is meant
    where: str


SOURCES: Final = {
    "abnar": Source(
        "S. Abnar, W. Zuidema",
        "2020",
        "Quantifying attention flow in transformers",
        "ACL, section 3",
        "doi:10.18653/v1/2020.acl-main.385",
    ),
    "bar-joseph": Source(
        "Z. Bar-Joseph, D. K. Gifford, T. S. Jaakkola",
        "2001",
        "Fast optimal leaf ordering for hierarchical clustering",
        "Bioinformatics 17, supplement 1",
        "doi:10.1093/bioinformatics/17.suppl_1.S22",
    ),
    "bland": Source(
        "J. M. Bland, D. G. Altman",
        "1995",
        "Calculating correlation coefficients with repeated observations: correlation within"
        " subjects",
        "BMJ 310",
        "doi:10.1136/bmj.310.6977.446",
    ),
    "clark": Source(
        "K. Clark, U. Khandelwal, O. Levy, C. D. Manning",
        "2019",
        "What does BERT look at? An analysis of BERT's attention",
        "BlackboxNLP, sections 3, 4 and 6",
        "doi:10.18653/v1/W19-4828",
    ),
    "cohen": Source(
        "J. Cohen",
        "1988",
        "Statistical power analysis for the behavioral sciences",
        "Lawrence Erlbaum, second edition, section 3.2",
        "doi:10.4324/9780203771587",
    ),
    "campello": Source(
        "R. J. G. B. Campello, D. Moulavi, J. Sander",
        "2013",
        "Density-based clustering based on hierarchical density estimates (HDBSCAN)",
        "PAKDD",
        "doi:10.1007/978-3-642-37456-2_14",
    ),
    "caron": Source(
        "M. Caron et al.",
        "2021",
        "Emerging properties in self-supervised vision transformers (DINO)",
        "ICCV, section 4.2.2",
        "arXiv:2104.14294",
    ),
    "darcet": Source(
        "T. Darcet, M. Oquab, J. Mairal, P. Bojanowski",
        "2024",
        "Vision transformers need registers",
        "ICLR, sections 2 and 3",
        "arXiv:2309.16588",
    ),
    "dosovitskiy": Source(
        "A. Dosovitskiy et al.",
        "2021",
        "An image is worth 16x16 words: transformers for image recognition at scale",
        "ICLR, sections 3.1 and 4.5, appendix D.7",
        "arXiv:2010.11929",
    ),
    "efron": Source(
        "B. Efron, R. J. Tibshirani",
        "1993",
        "An introduction to the bootstrap",
        "Chapman and Hall, chapter 13",
        "doi:10.1201/9780429246593",
    ),
    "endres": Source(
        "D. M. Endres, J. E. Schindelin",
        "2003",
        "A new metric for probability distributions",
        "IEEE Transactions on Information Theory 49 (7)",
        "doi:10.1109/TIT.2003.813506",
    ),
    "gabriel": Source(
        "K. R. Gabriel",
        "1971",
        "The biplot graphic display of matrices with application to principal component analysis",
        "Biometrika 58 (3)",
        "doi:10.1093/biomet/58.3.453",
    ),
    "guillot": Source(
        "G. Guillot, F. Rousset",
        "2013",
        "Dismantling the Mantel tests",
        "Methods in Ecology and Evolution 4 (4)",
        "doi:10.1111/2041-210x.12018",
    ),
    "iglewicz": Source(
        "B. Iglewicz, D. C. Hoaglin",
        "1993",
        "How to detect and handle outliers",
        "ASQC Quality Press",
        "ISBN 978-0-87389-247-6",
    ),
    "kobayashi": Source(
        "G. Kobayashi, T. Kuribayashi, S. Yokoi, K. Inui",
        "2020",
        "Attention is not only a weight: analyzing transformers with vector norms",
        "EMNLP, sections 2 and 4",
        "doi:10.18653/v1/2020.emnlp-main.574",
    ),
    "kruskal": Source(
        "J. B. Kruskal",
        "1964",
        "Multidimensional scaling by optimizing goodness of fit to a nonmetric hypothesis",
        "Psychometrika 29 (1)",
        "doi:10.1007/BF02289565",
    ),
    "notebook": Source(
        "No author given",
        "n. d.",
        "A notebook that searches the constants a and c",
        "Not published; the mathematics of this page gives its rule in full",
        "no address",
    ),
    "luger": Source(
        "R. Luger, H. Kamath et al.",
        "2026",
        "HeadVis: an interactive tool for investigating attention heads",
        "Transformer Circuits Thread",
        "transformer-circuits.pub/2026/headvis/index.html",
    ),
    "olsson": Source(
        "C. Olsson et al.",
        "2022",
        "In-context learning and induction heads",
        "Transformer Circuits Thread",
        "arXiv:2209.11895",
    ),
    "ottosson": Source(
        "B. Ottosson",
        "2020",
        "A perceptual color space for image processing",
        "The author's web page",
        "bottosson.github.io/posts/oklab/index.html",
    ),
    "romano": Source(
        "J. P. Romano, M. Wolf",
        "2005",
        "Exact and approximate stepdown methods for multiple hypothesis testing",
        "Journal of the American Statistical Association 100 (469)",
        "doi:10.1198/016214504000000539",
    ),
    "shoemaker": Source(
        "T. Shoemaker",
        "2024",
        "Attention in vector space",
        "Language model interpretability (workshop), chapter 11",
        "t-shoemaker.github.io/2024_dtl_lm-interpretability/chapters/"
        "11_attention-in-vector-space.html",
    ),
    "sun": Source(
        "M. Sun, X. Chen, J. Z. Kolter, Z. Liu",
        "2024",
        "Massive activations in large language models",
        "COLM, section 2",
        "arXiv:2402.17762",
    ),
    "szekely": Source(
        "G. J. Székely, M. L. Rizzo",
        "2013",
        "Energy statistics: a class of statistics based on distances",
        "Journal of Statistical Planning and Inference 143 (8)",
        "doi:10.1016/j.jspi.2013.03.018",
    ),
    "vaswani": Source(
        "A. Vaswani et al.",
        "2017",
        "Attention is all you need",
        "NeurIPS, section 3.2",
        "arXiv:1706.03762",
    ),
    "vershynin": Source(
        "R. Vershynin",
        "2018",
        "High-dimensional probability",
        "Cambridge University Press, section 7.6",
        "doi:10.1017/9781108231596",
    ),
    "vig": Source(
        "J. Vig",
        "2019",
        "A multiscale visualization of attention in the transformer model (BertViz)",
        "ACL, system demonstrations",
        "doi:10.18653/v1/P19-3007",
    ),
    "vig-belinkov": Source(
        "J. Vig, Y. Belinkov",
        "2019",
        "Analyzing the structure of attention in a transformer language model",
        "BlackboxNLP",
        "doi:10.18653/v1/W19-4808",
    ),
    "westfall": Source(
        "P. H. Westfall, S. S. Young",
        "1993",
        "Resampling-based multiple testing",
        "Wiley, section 2.6",
        "ISBN 978-0-471-55761-6",
    ),
    "xiao": Source(
        "G. Xiao, Y. Tian, B. Chen, S. Han, M. Lewis",
        "2024",
        "Efficient streaming language models with attention sinks",
        "ICLR",
        "arXiv:2309.17453",
    ),
    "yeh": Source(
        "C. Yeh, Y. Chen, A. Wu, C. Chen, F. Viégas, M. Wattenberg",
        "2023",
        "AttentionViz: a global view of transformer attention",
        "IEEE TVCG 30 (1), sections 5.1 and 6",
        "doi:10.1109/TVCG.2023.3327163",
    ),
    "zhai": Source(
        "S. Zhai et al.",
        "2023",
        "Stabilizing transformer training by preventing attention entropy collapse",
        "ICML",
        "arXiv:2303.06296",
    ),
}

# What each page follows: the names above, in the order of the page.
FOLLOWED: Final[dict[str, tuple[str, ...]]] = {
    "home": ("vaswani",),
    "heatmap": ("vaswani", "clark"),
    "vectors": ("shoemaker",),
    "projection": ("shoemaker",),
    "query_key": ("yeh", "notebook", "bland", "gabriel"),
    "head_view": ("vig", "kobayashi"),
    "model_view": ("vig", "clark", "bar-joseph"),
    "neuron_view": ("vig", "vaswani"),
    "images": ("yeh", "dosovitskiy", "darcet", "vig"),
    "class_attention": ("abnar", "kobayashi", "caron", "dosovitskiy"),
    "patterns": ("clark", "olsson", "efron", "endres", "kruskal", "romano", "abnar"),
    "anomalies": (
        "kobayashi",
        "vig-belinkov",
        "yeh",
        "szekely",
        "sun",
        "xiao",
        "zhai",
        "iglewicz",
        "vershynin",
        "darcet",
    ),
    "patch_space": ("yeh", "ottosson", "bland", "guillot", "westfall", "cohen"),
    "atlas": ("yeh", "campello", "westfall", "luger"),
}


def show_references(page: str) -> None:
    """The box at the end of a page: every source that it follows."""
    with st.expander("References"):
        st.markdown("\n".join(f"- {entry(SOURCES[name])}" for name in FOLLOWED[page]))


def entry(source: Source) -> str:
    """A line of the list (Markdown); the address is text, as it may open in no browser here."""
    return (
        f"{source.authors} ({source.year}). *{source.title}*. {source.published}. `{source.where}`"
    )
