"""The linear systems of the solvers: ordering, elimination plan, factorisation and substitution."""
