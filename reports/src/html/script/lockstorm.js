// The one name that the parts of this script share. Each part is a scope of its own, and hands on
// what others need of it.
'use strict';
const lockstorm = {};
