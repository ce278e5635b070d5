//===- GradScheduleOps.h - When values are computed -------------*- C++ -*-===//

#ifndef GRAD_DIALECT_GRADSCHEDULEOPS_H
#define GRAD_DIALECT_GRADSCHEDULEOPS_H

#include "GradDialect.h"

#define GET_OP_CLASSES
#include "GradScheduleOps.h.inc"

#endif // GRAD_DIALECT_GRADSCHEDULEOPS_H
