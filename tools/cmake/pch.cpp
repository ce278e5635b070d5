// The precompiled header needs a translation unit to belong to.
