"""C++ names: what c++filt prints for symbols of nvcc, clang, numba and Rust, and which of them a word means."""

import re
import shutil
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from warplab.assembler.demangle import cpp_name, demangled, matching, short_name

NAMES = {
    "_Z5plainv": "plain()",
    "_ZN2ns4axpyIfEEvPT_PKS1_S1_i": "ns::axpy<float>(float*, float const*, float, int)",
    "_Z2afIXadL_Z3deviEEEvi": "af<&(dev(int))>(int)",
    "_Z2enIL1E1EEvv": "en<(E)1>()",
    "_Z4arrnILi4EEvPAT__i": "arrn<4>(int (*) [4])",
    "_ZN2ns2fpEPFviPfEPVKiRA4_iy6__halfPK7__half2": "ns::fp(void (*)(int, float*), int const volatile*, int (&) [4], unsigned long long, __half, __half2 const*)",
    "_ZN2ns2ttINS_3BoxEEEvT_IiLi3EE": "ns::tt<ns::Box>(ns::Box<int, 3>)",
    "_ZN2ns3funIZ4mainEUliE_EEvT_i": "ns::fun<main::{lambda(int)#1}>(main::{lambda(int)#1}, int)",
    "_ZN2ns4manyIfJifcEEEvPT_DpT0_": "ns::many<float, int, float, char>(float*, int, float, char)",
    "_ZN2ns4valsILi3ELb1ELm5EEEvNS_3BoxIfXT_EEENS2_2InE": None,
    "_ZNK1SclEi": "S::operator()(int) const",
    "_ZN1SC2Ev": "S::S()",
    "_ZN1SD1Ev": "S::~S()",
    "_ZN12_GLOBAL__N_14anonEilcahbd": "(anonymous namespace)::anon(int, long, char, signed char, unsigned char, bool, double)",
    "_ZNSolsEPFRSoS_E": "std::ostream::operator<<(std::ostream& (*)(std::ostream&))",
    "_ZN13numba_kernels3addB2v1B7cw51cXTE5ArrayIfLi2E1C7mutable7alignedE": "numba_kernels::add(Array<float, 2, C, mutable, aligned>)",
    "_ZN4core3fmt17h0123456789abcdefE": "core::fmt",
    "_ZZ4mainE5table": "main::table",
}  # fmt: skip


@pytest.mark.parametrize("symbol", NAMES)
def test_names(symbol: str) -> None:
    wanted = NAMES[symbol]
    assert wanted is None or demangled(symbol) == wanted
    if shutil.which("c++filt"):
        done = subprocess.run(["c++filt", symbol], capture_output=True, text=True, check=True).stdout.strip()
        same = re.sub(r"\[abi:\w+\]|::h[0-9a-f]{16}|\s(?=>)|std::basic_ostream<char, std::char_traits<char> >", "", done)
        if "ostream" not in done and done != symbol:
            assert same.endswith(demangled(symbol))


def test_a_word_means_the_longest_name_that_it_spells() -> None:
    one, two, three = "_Z3addPf", "_ZN2ns3addIfEEvPT_", "_ZN2ns3addIdEEvPT_"
    assert matching([two, one], "add") == [one]
    assert matching([one, two, three], "ns::add<float>") == [two]
    assert matching([one, two, three], "ns::add<double>(double *)") == [three]
    assert matching([two, three], "ns::add") == [two, three]
    assert matching([one, two], one) == [one]
    assert matching([one, "add"], "add") == ["add"]
    assert matching([one], "sub") == []
    assert short_name(two) == "ns::add<float>" and short_name("plain") == "plain"
    found = cpp_name("_ZN2ns3funISt4pairIiPFvicEEEEvT_i")
    assert found is not None and found.parameter_types == ["std::pair<int, void (*)(int, char)>", "int"]


@example("NE")  # a nested name of nothing
@given(st.text("_ZNKSLIEJXTPRCDvijfd0123456789abcl", max_size=40))
def test_no_symbol_breaks_it(rest: str) -> None:
    assert demangled("_Z" + rest)
