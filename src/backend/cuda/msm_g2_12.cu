/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/msm_g2_12: G2 over a base field of 12 words. */
#include "backend/cuda/msm_group.cuh"

typedef msm_group<coord2<12>> group;

extern "C" const msm_group_ops msm_g2_12 = {group::POINT_WORDS, group::buckets, NULL,
                                            group::runs, group::join};
