"""The tables and everything that speaks SQL: one store on two engines, seen through small classes per noun."""
