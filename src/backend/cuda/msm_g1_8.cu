/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/msm_g1_8: G1 over a base field of 8 words. */
#include "backend/cuda/msm_group.cuh"

typedef msm_group<coord1<8>> group;

extern "C" const msm_group_ops msm_g1_8 = {group::POINT_WORDS, group::buckets, affine_add_g1_8,
                                           group::runs, group::join};
