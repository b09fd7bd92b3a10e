#pragma once
#include <cjose/cjose.h>
