// What pictures call pointing: where nothing hovers, a tap takes its place.

export const TOUCHED = matchMedia("(hover: none)").matches;
export const POINT_AT = TOUCHED ? "Tap" : "Point at";
