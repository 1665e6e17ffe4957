"""Generated C on Cortex-M processors under qemu, and its machine code as a listing."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

GCC, QEMU, DUMP = "arm-none-eabi-gcc", "qemu-system-arm", "arm-none-eabi-objdump"
INSTALLED = all(map(shutil.which, (GCC, QEMU, DUMP)))
STRICT = ("-std=c99", "-O2", "-fno-math-errno")
BOARDS = {"m4": "mps2-an386", "m7": "mps2-an500"}
PROCESSORS = {
    "m4": ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"),
    "m7": ("-mcpu=cortex-m7", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-d16"),
}
CONDITIONAL = re.compile(
    r"\s(b(eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)(\.[nw])?|cbn?z|it[te]{0,3}|tb[bh]|j(?!mp)[a-z]+|loop\w*)\s"
)
"""Instructions whose effect depends on a condition, of Thumb and of x86-64."""

START = r"""
extern int main(void);
extern unsigned top;
__attribute__((used)) static void reset(void)
{
    *(volatile unsigned *)0xE000ED88 |= 0xF << 20; /* the floating-point unit */
    __asm__ volatile("dsb; isb");
    main();
    __asm__ volatile("mov r0, #0x18; ldr r1, =0x20026; bkpt 0xAB"); /* exit */
}
__attribute__((section(".vectors"), used)) static const void *vectors[2] = {(void *)0x20010000, (void *)reset};
void put(const char *text)
{
    register int r0 __asm__("r0") = 4; /* SYS_WRITE0 */
    register const char *r1 __asm__("r1") = text;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}
"""
HERE = "#include <stdio.h>\nvoid put(const char *text) { fputs(text, stdout); }\n"
MAIN = r"""
#include <stdint.h>
#include <string.h>
#include "arm.h"
void put(const char *text);
static uint32_t seed = 1;
static @R@ next(void) /* between -3 and 3, sometimes zero */
{
    seed = seed*1664525u + 1013904223u;
    return (seed >> 8) % 16u ? (@R@)(int32_t)seed*(@R@)1.396983861923218e-09 : (@R@)0;
}
static void shown(const @R@ *values, int count)
{
    static const char digits[] = "0123456789abcdef";
    char line[20];
    for (int i = 0; i < count; i++) {
        @B@ bits;
        int k = 0;
        memcpy(&bits, values + i, sizeof bits);
        for (int j = 8*(int)sizeof bits - 4; j >= 0; j -= 4) line[k++] = digits[(bits >> j) & 15];
        line[k++] = '\n';
        line[k] = 0;
        put(line);
    }
}
int main(void)
{
    static @R@ given[@GIVEN@], made[@MADE@];
    for (int k = 0; k < @STATES@; k++) {
        for (int i = 0; i < @GIVEN@; i++) given[i] = next();
        @CALL@
        shown(made, @MADE@);
    }
    return 0;
}
"""
SCRIPT = (
    "SECTIONS { . = 0; .text : { *(.vectors) *(.text*) *(.rodata*) } . = 0x20000000; .bss : { *(.data*) *(.bss*) } }\n"
)


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def program(folder: Path, call: str, given: int, made: int, real: str, states: int = 200) -> None:
    """main.c, which calls a function of arm.c at pseudo-random states and prints the bits of its results."""
    bits = "uint64_t" if real == "double" else "uint32_t"
    text = MAIN.replace("@CALL@", call).replace("@GIVEN@", str(given)).replace("@MADE@", str(made))
    text = text.replace("@STATES@", str(states)).replace("@R@", real).replace("@B@", bits)
    for name, content in {"main.c": text, "start.c": START, "here.c": HERE, "link.ld": SCRIPT}.items():
        (folder / name).write_text(content)


def bits_here(folder: Path, compiler: str) -> str:
    run(compiler, *STRICT, "main.c", "here.c", "arm.c", "-lm", "-o", "here", cwd=folder)
    return run(folder / "here", cwd=folder)


def bits_of(folder: Path, processor: str) -> str:
    flags = (*STRICT, *PROCESSORS[processor], "-nostartfiles", "-T", "link.ld")
    run(GCC, *flags, "main.c", "start.c", "arm.c", "-o", f"{processor}.elf", cwd=folder)
    quiet = ("-display", "none", "-monitor", "none", "-serial", "none", "-chardev", "stdio,id=out")
    console = ("-semihosting-config", "enable=on,target=native,chardev=out")
    return run(QEMU, "-M", BOARDS[processor], *quiet, *console, "-kernel", f"{processor}.elf", cwd=folder)


def listing(folder: Path, compiler: str, *flags: str) -> dict[str, list[str]]:
    """Instructions of every function of arm.c."""
    run(compiler, *STRICT, *flags, "-c", "arm.c", "-o", "arm.o", cwd=folder)
    text = run(DUMP if compiler == GCC else "objdump", "-d", "--no-show-raw-insn", "arm.o", cwd=folder)
    parts = re.split(r"^[0-9a-f]+ <(\S+)>:$", text, flags=re.M)[1:]
    return {
        name: [line for line in body.splitlines() if re.match(r"\s+[0-9a-f]+:\t(?!\.word|\.short)", line)]
        for name, body in zip(parts[::2], parts[1::2], strict=True)
    }
