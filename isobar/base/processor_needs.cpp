#include "isobar/base/processor_needs.hpp"

namespace isobar {

extern const unsigned processor_needs = 0
#ifdef __AVX2__
                                        | needs_avx2
#endif
#ifdef __FMA__
                                        | needs_fma
#endif
#ifdef __BMI__
                                        | needs_bmi
#endif
#ifdef __BMI2__
                                        | needs_bmi2
#endif
#ifdef __AVX512F__
                                        | needs_avx512f
#endif
#ifdef __AVX512BW__
                                        | needs_avx512bw
#endif
#ifdef __AVX512CD__
                                        | needs_avx512cd
#endif
#ifdef __AVX512DQ__
                                        | needs_avx512dq
#endif
#ifdef __AVX512VL__
                                        | needs_avx512vl
#endif
#ifdef __AVX512VBMI__
                                        | needs_avx512vbmi
#endif
#ifdef __AVX512IFMA__
                                        | needs_avx512ifma
#endif
#ifdef __AVX512VBMI2__
                                        | needs_avx512vbmi2
#endif
#ifdef __AVX512VNNI__
                                        | needs_avx512vnni
#endif
#ifdef __AVX512BITALG__
                                        | needs_avx512bitalg
#endif
#ifdef __AVX512VPOPCNTDQ__
                                        | needs_avx512vpopcntdq
#endif
#ifdef __AVX512BF16__
                                        | needs_avx512bf16
#endif
#ifdef __GFNI__
                                        | needs_gfni
#endif
#ifdef __VPCLMULQDQ__
                                        | needs_vpclmulqdq
#endif
#ifdef __AVX512ER__
                                        | needs_avx512er
#endif
    ;

}  // namespace isobar
