/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Functions of the C library whose newest version would be the only thing for which what is distributed
 * needs a newer system: here they are in the version that has always been there. What is linked with this
 * file calls its functions, which nobody else sees; `hypot` is new in glibc 2.35, `fmod` in 2.38. BASE is
 * the first version for this kind of processor. */
#define OLDER(result, name, types, call)                        \
  result older_##name types;                                    \
  __asm__(".symver older_" #name ", " #name "@" BASE);          \
  __attribute__((visibility("hidden"))) result name types {     \
    return older_##name call;                                   \
  }

OLDER(double, hypot, (double x, double y), (x, y))
OLDER(float, hypotf, (float x, float y), (x, y))
OLDER(double, fmod, (double x, double y), (x, y))
OLDER(float, fmodf, (float x, float y), (x, y))
