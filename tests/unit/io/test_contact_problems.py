"""Contact problems from files. Truth: dense matrices that the files were written from, and closed forms of one contact."""

import tracemalloc
import zipfile

import h5py
import numpy as np
import pytest
import scipy.sparse as sp

from drystone.base.errors import InputError
from drystone.engine.solvers.problem import Problem
from drystone.engine.solvers.solution import Guess
from drystone.io.contact_problems.foreign_problem import remainder
from drystone.io.contact_problems.problem_file import Dump, read_contact_problem, read_problem, write_problem
from tests.unit import foreign_files as foreign

STORAGES = {
    "dense": foreign.dense,
    "blocks": lambda matrix: foreign.blocks(matrix, 3, 3) if matrix.shape[1] % 3 == 0 else foreign.blocks(matrix, 2, 2),
    "triplets": lambda matrix: foreign.sparse(matrix, "triplets"),
    "columns": lambda matrix: foreign.sparse(matrix, "columns"),
    "rows": lambda matrix: foreign.sparse(matrix, "rows"),
}


def local(dimension, contacts=4, seed=1):
    """W (singular), q and friction; the last contact is tied to the others by nothing."""
    random, size = np.random.default_rng(seed), dimension * contacts
    root = random.normal(size=(size, size - 2))
    root[-dimension:], root[-dimension:, -dimension:] = 0.0, np.eye(dimension)
    root[:-dimension, -dimension:] = 0.0
    return root @ root.T, random.normal(size=size), random.uniform(0.1, 0.9, contacts)


def whole(dimension, contacts=2, unknowns=6, seed=2):
    """M, H, f, w and friction."""
    random, size = np.random.default_rng(seed), dimension * contacts
    root = random.normal(size=(unknowns, unknowns))
    H = random.normal(size=(unknowns, size))
    return root @ root.T + np.eye(unknowns), H, random.normal(size=unknowns), random.normal(size=size), np.full(contacts, 0.3)


def reactions(contacts, dimension):
    out = np.zeros((contacts, 3))
    out[:, :dimension] = np.random.default_rng(5).normal(size=(contacts, dimension))
    return out


def siconos(path, dimension, contacts, *parts, end="\n"):
    path.write_text(f"{dimension}\n{contacts}\n" + "".join(parts) + end)
    return path


def local_file(path, storage, dimension, end="\n"):
    W, q, friction = local(dimension)
    return siconos(path, dimension, 4, STORAGES[storage](W), foreign.vector(q), foreign.vector(friction), end=end)


def check_velocity(given, W, q, dimension):
    r = reactions(len(given.friction), dimension)
    u = given.velocity(r)
    np.testing.assert_allclose(u[:, :dimension].ravel(), W @ r[:, :dimension].ravel() + q, rtol=1e-12, atol=1e-12)
    assert not u[:, dimension:].any()
    traces = [np.trace(W[i : i + dimension, i : i + dimension]) for i in range(0, len(q), dimension)]
    np.testing.assert_allclose(given.response, traces, rtol=1e-12)
    problem = given.problem()
    assert np.abs(remainder(given, problem, r)).max() <= 1e-12 * np.abs(W).max()
    assert problem.speed == pytest.approx(np.linalg.norm(q.reshape(-1, dimension), axis=1).max())
    assert problem.total_mass == pytest.approx(np.median(3 / np.array(traces)))


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("storage", STORAGES)
def test_siconos_local(tmp_path, storage, dimension):
    W, q, friction = local(dimension)
    given = read_contact_problem(local_file(tmp_path / "x.dat", storage, dimension))
    assert (given.form, given.dimension) == ("local", dimension)
    np.testing.assert_array_equal(given.friction, friction)
    check_velocity(given, W, q, dimension)


def test_siconos_flag_at_the_end_is_skipped(tmp_path):
    assert read_contact_problem(local_file(tmp_path / "x.dat", "blocks", 3, end="\n1\n")).form == "local"


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("storage", ["dense", "blocks", "triplets", "columns"])
def test_siconos_global(tmp_path, storage, dimension):
    M, H, f, w, friction = whole(dimension)
    vectors = [foreign.vector(values) for values in (f, w, friction)]
    path = siconos(tmp_path / "x.dat", dimension, 2, STORAGES[storage](M), STORAGES[storage](H), *vectors)
    given = read_contact_problem(path)
    assert (given.form, given.dimension) == ("global", dimension)
    check_velocity(given, H.T @ np.linalg.solve(M, H), H.T @ np.linalg.solve(M, f) + w, dimension)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("storage", ["triplets", "columns", "rows"])
def test_fclib(tmp_path, storage, dimension):
    W, q, friction = local(dimension)
    path = foreign.fclib(tmp_path / "local", storage, dimension, W=W, q=q, mu=friction)
    check_velocity(read_contact_problem(path), W, q, dimension)
    M, H, f, w, friction = whole(dimension)
    path = foreign.fclib(tmp_path / "global", storage, dimension, M=M, H=H, f=f, w=w, mu=friction, G=np.empty((6, 0)))
    check_velocity(read_contact_problem(path), H.T @ np.linalg.solve(M, H), H.T @ np.linalg.solve(M, f) + w, dimension)


def test_problem_is_one_body_with_the_factor_of_W(tmp_path):
    W, q, _ = local(3)
    problem = read_contact_problem(local_file(tmp_path / "x.dat", "dense", 3)).problem()
    rows = problem.row_b.reshape(12, -1)
    assert rows.shape[1] == 10, "the rank of W"
    np.testing.assert_allclose(rows @ rows.T, W, atol=1e-12)
    np.testing.assert_array_equal(problem.bias.ravel(), q)
    assert not problem.free.any()
    assert not problem.dilatancy.any(), "Coulomb's law"
    assert np.all((problem.a == -1) & (problem.b == 0))


def one_contact(path, q, friction, W=None):
    W = np.eye(len(q)) if W is None else W
    return read_contact_problem(foreign.fclib(path, dimension=len(q), W=W, q=np.array(q), mu=np.array([friction])))


@pytest.mark.parametrize("inverse_mass", [1e-3, 1.0, 1e3])
def test_residual_of_a_sliding_contact(tmp_path, inverse_mass):
    """W = c I: Coulomb's contact stops along the normal, r_n = -q_n / c, and slides on, r_t = -mu r_n q_t / |q_t|; the
    associated reaction is the nearest point of K to -q / c."""
    q, mu = np.array([-1.0, 1.0, 3.0]), 0.1
    given = one_contact(tmp_path / "x", q, mu, inverse_mass * np.eye(3))
    slip = np.hypot(*q[1:])
    exact = np.array([[1.0, *(-mu * q[1:] / slip)]]) / inverse_mass
    height = (1.0 + mu * slip) / (1 + mu**2)
    associated = np.array([[height, *(-mu * height * q[1:] / slip)]]) / inverse_mass
    assert given.residual(exact) < 1e-14
    assert given.residual(associated, "associated") < 1e-14
    assert given.residual(exact, "associated") > 1e-2
    assert given.residual(associated) > 1e-2


def test_residual_of_no_reaction(tmp_path):
    """A contact that closes at speed 2 lacks all of it, a contact that opens lacks nothing."""
    given = one_contact(tmp_path / "x", [-2.0, 0.0], 0.5, np.diag([4.0, 4.0]))
    assert given.residual(np.zeros((1, 3))) == pytest.approx(1.0)
    assert one_contact(tmp_path / "y", [2.0, 0.5], 0.5).residual(np.zeros((1, 3))) == 0.0, "opening"


def test_unsymmetric_W_is_its_symmetric_part_and_a_remainder(tmp_path):
    W, q, friction = local(3)
    skew = np.zeros_like(W)
    skew[0, 1], skew[1, 0] = 1e-3, -1e-3
    given = read_contact_problem(foreign.fclib(tmp_path / "x", W=W + skew, q=q, mu=friction))
    problem, r = given.problem(), reactions(4, 3)
    rows = problem.row_b.reshape(12, -1)
    np.testing.assert_allclose(rows @ rows.T, W, atol=1e-12)
    np.testing.assert_allclose(remainder(given, problem, r).ravel(), skew @ r.ravel(), atol=1e-12)


def test_half_a_matrix_is_completed_and_said(tmp_path):
    M, H, f, w, friction = whole(3)
    given = read_contact_problem(foreign.fclib(tmp_path / "x", M=np.triu(M), H=H, f=f, w=w, mu=friction))
    np.testing.assert_array_equal(given.M.toarray(), M)
    assert "upper triangle" in given.notes[0]


def changed(text, old, new):
    assert old in text
    return text.replace(old, new, 1)


HUGE = str(10**12)
TEXT = {
    "empty": (lambda t: "", "dimension needs 1 values, 0 are left"),
    "cut in W": (lambda t: t[:60], "needs 36 values"),
    "cut in friction": (lambda t: t.rsplit(maxsplit=1)[0], "friction needs 2 values, 1 are left"),
    "nan": (lambda t: changed(t, "1.5", "nan"), "W has a value that is not finite"),
    "infinite q": (lambda t: changed(t, "2.5", "1e999"), "q has a value that is not finite"),
    "a word": (lambda t: changed(t, "1.5", "one"), "are not numbers"),
    "negative friction": (lambda t: changed(t, "3.5", "-0.1"), r"friction of contact 0 is -0\.1"),
    "dimension 4": (lambda t: changed(t, "3\n2\n", "4\n2\n"), "need 8"),
    "one contact more": (lambda t: changed(t, "3\n2\n", "3\n3\n"), "3 contacts of dimension 3 need 9"),
    "half a contact": (lambda t: changed(t, "3\n2\n", "3\n2.5\n"), "not a whole number"),
    "more at the end": (lambda t: t + "1 2 3", "3 values are left"),
    "storage 7": (lambda t: changed(t, "3\n2\n0\n", "3\n2\n7\n"), "storage of the first matrix is 7"),
    "two sizes": (lambda t: changed(t, "6\t6", "6\t5"), "then 6 x 5"),
    "huge matrix": (lambda t: changed(t, "0\n6\n6\n6\t6", f"0\n{HUGE}\n{HUGE}\n{HUGE}\t{HUGE}"), "is the file cut"),
    "huge sparse matrix": (lambda t: changed(t, "0\n6\n6\n6\t6", f"2\n{HUGE}\n{HUGE}\n1"), "is the file cut"),
    "huge count": (lambda t: changed(t, "3\n2\n", f"3\n{HUGE}\n"), "contacts of dimension 3 need"),
}  # fmt: skip


@pytest.mark.parametrize("case", TEXT)
def test_malformed_text(tmp_path, case):
    change, said = TEXT[case]
    values = " ".join(map(str, np.diag([1.5, 1, 1, 1, 1, 1]).ravel()))
    path = tmp_path / "x.dat"
    path.write_text(change(f"3\n2\n0\n6\n6\n6\t6\n{values}\n2.5 0 0 1 0 0\n3.5 0.25\n"))
    refused(path, said)


def refused(path, said):
    """One clear error, and no room made for what is not there."""
    tracemalloc.start()
    with pytest.raises(InputError, match=said) as error:
        read_contact_problem(path).problem()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert str(path) in str(error.value)
    assert peak < 2**26


BLOCK = "1\n6\n6\n2\n2\n2\n3\t6\n3\t6\n3\n2\n0\t1\t2\n0\t1\n"
BLOCKS = {
    "ends beyond": (BLOCK.replace("3\t6\n3\t6", "3\t7\n3\t6"), "does not fit a matrix of 6 x 6"),
    "column beyond": (BLOCK.replace("0\t1\t2\n0\t1\n", "0\t1\t2\n0\t2\n"), "does not fit a matrix of 6 x 6"),
    "more blocks than there are": (BLOCK.replace("0\t1\t2", "0\t1\t9"), "does not fit a matrix of 6 x 6"),
    "huge index": (BLOCK.replace("3\n2\n0\t1\t2", f"{HUGE}\n2\n0\t1\t2"), "is the file cut"),
}


@pytest.mark.parametrize("case", BLOCKS)
def test_malformed_blocks(tmp_path, case):
    text, said = BLOCKS[case]
    rest = "".join(f"{k}\n" + "1 " * 9 + "\n" for k in range(2)) + "1 " * 8
    refused(siconos(tmp_path / "x.dat", 3, 2, text, rest), said)


@pytest.mark.parametrize(
    ("line", "said"),
    [("    9 0 : 1\n", "entry outside"), ("    -1 0 : 1\n", "not a whole number"), ("    0 0 : x\n", "are not numbers")],
)
def test_malformed_sparse(tmp_path, line, said):
    head = f"2\n6\n6\n1\n{foreign.CSPARSE}triplet: 6-by-6, nzmax: 1 nnz: 1\n"
    refused(siconos(tmp_path / "x.dat", 3, 2, head, line, "1 " * 8), said)


def hdf5(path, change):
    W, q, friction = local(3)
    foreign.fclib(path, W=W, q=q, mu=friction)
    with h5py.File(path, "r+") as file:
        change(file["fclib_local"])
    return path


def put(group, key, values):
    del group[key]
    group[key] = np.array(values)


def huge(group, key):
    del group[key]
    group.create_dataset(key, (10**10,), "f8", chunks=(1024,))


HDF5 = {
    "no W": (lambda g: g.__delitem__("W"), "fclib_local/W is missing"),
    "no q": (lambda g: g.__delitem__("vectors/q"), "vectors/q is missing"),
    "words": (lambda g: put(g, "vectors/q", [b"a", b"b"]), "missing or not numbers"),
    "nan": (lambda g: put(g, "vectors/q", [np.nan] * 12), "q has a value that is not finite"),
    "negative friction": (lambda g: put(g, "vectors/mu", [0.1, -0.2, 0.3, 0.4]), r"friction of contact 1 is -0\.2"),
    "contacts": (lambda g: put(g, "vectors/mu", [0.1]), "W is 12 x 12, the contacts and the other sizes need 3 x 3"),
    "no contacts": (lambda g: put(g, "vectors/mu", np.empty(0)), "no contacts"),
    "dimension": (lambda g: put(g, "spacedim", [1]), "dimension is 1"),
    "pointers": (lambda g: put(g, "W/p", [0, 1, 2]), "does not count the entries"),
    "entries": (lambda g: put(g, "W/x", [1.0]), "is the file cut"),
    "index": (lambda g: put(g, "W/i", np.full(len(g["W/i"]), 99)), "entry outside"),
    "storage": (lambda g: put(g, "W/nz", [-3]), "nz from -2 up"),
    "huge size": (lambda g: put(g, "W/m", [2**31]), "sizes from 0"),
    "huge vector": (lambda g: huge(g, "vectors/q"), "10,000,000,000 values"),
    "equalities": (lambda g: foreign.put_matrix(g.create_group("V"), np.ones((12, 1)), "rows"), "equalities are not read"),
    "negative W": (lambda g: put(g, "W/x", -g["W/x"][:]), "does not answer to its own reaction"),
}  # fmt: skip


@pytest.mark.parametrize("case", HDF5)
def test_malformed_hdf5(tmp_path, case):
    change, said = HDF5[case]
    refused(hdf5(tmp_path / "x.hdf5", change), said)


def test_indefinite_matrices_are_refused(tmp_path):
    W = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0], [2.0, 0.0, 1.0]])  # eigenvalues 3, 1, -1
    refused(foreign.fclib(tmp_path / "x", W=W, q=np.ones(3), mu=np.ones(1)), "W has the eigenvalue -1")
    M, H, f, w, friction = whole(3)
    M = np.diag([1.0, 1, 1, 1, 1, -1e-3])
    refused(foreign.fclib(tmp_path / "y", M=M, H=np.eye(6), f=f, w=w, mu=friction), "does not answer|not positive definite")
    M[5, 5] = 0.0
    refused(foreign.fclib(tmp_path / "z", M=M, H=H, f=f, w=w, mu=friction), "M is singular")


def test_not_a_contact_problem(tmp_path):
    refused(tmp_path / "missing", "cannot be read")
    refused(tmp_path, "cannot be read")
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    refused(tmp_path / "binary", "neither text nor HDF5")
    whole_file = foreign.fclib(tmp_path / "x.hdf5", W=np.eye(3), q=np.ones(3), mu=np.ones(1)).read_bytes()
    (tmp_path / "cut.hdf5").write_bytes(whole_file[: len(whole_file) // 2])
    refused(tmp_path / "cut.hdf5", "cannot be read as HDF5")
    with h5py.File(tmp_path / "other.hdf5", "w") as file:
        file["frames"] = np.zeros(3)
    refused(tmp_path / "other.hdf5", "fclib_local or fclib_global")


def dumped(path):
    random = np.random.default_rng(3)
    contacts, bodies, unknowns = 5, 2, 6
    rows = [random.normal(size=(contacts, 3, unknowns)) for _ in range(2)]
    few = [random.uniform(size=contacts) for _ in range(3)]
    three = [random.normal(size=(contacts, 3)) for _ in range(4)]
    free, velocity = (random.normal(size=(bodies, unknowns)) for _ in range(2))
    a, b = np.array([-1, 0, 0, 1, 1]), np.array([0, 1, 1, -1, -1])
    place, mass = random.normal(size=(bodies, 3)), np.array([1.0, 2.0])
    problem = Problem(a, b, *rows, three[0], *few, three[1], free, mass, place, 0.1 + 0.2, float(mass.sum()))
    guess = Guess(velocity, three[2], 7)
    write_problem(path, problem, guess, {"step": 3, "method": "native"})
    return problem, guess


def test_dump_comes_back_bit_for_bit(tmp_path):
    problem, guess = dumped(tmp_path / "x.npz")
    back = read_contact_problem(tmp_path / "x.npz")
    assert isinstance(back, Dump)
    assert back.about == {"step": 3, "method": "native"}
    for old, new in ((problem, back.problem), (guess, back.guess)):
        for name, before, after in zip(old._fields, old, new, strict=True):
            assert type(before) is type(after), name
            np.testing.assert_array_equal(before, after, err_msg=name)
    assert list(tmp_path.iterdir()) == [tmp_path / "x.npz"], "no part of it is left"


def test_a_dump_that_fails_leaves_nothing(tmp_path):
    problem, guess = dumped(tmp_path / "x.npz")
    old = (tmp_path / "x.npz").read_bytes()
    with pytest.raises(TypeError):
        write_problem(tmp_path / "x.npz", problem, guess, {"not in JSON": object()})
    assert (tmp_path / "x.npz").read_bytes() == old
    assert list(tmp_path.iterdir()) == [tmp_path / "x.npz"]


DUMPS = {
    "a missing array": (lambda f: f.pop("problem_bias"), "problem_bias"),
    "a pickle": (lambda f: f.update(about=np.array({}, object)), "not a dump"),
    "about is no JSON": (lambda f: f.update(about="{"), "not a dump"),
    "about is nested without end": (lambda f: f.update(about="[" * 100_000), "not a dump"),
    "another shape": (lambda f: f.update(problem_bias=f["problem_bias"][:-1]), "problem_bias has shape"),
    "another type": (lambda f: f.update(problem_a=f["problem_a"].astype(float)), "problem_a has shape"),
    "nan": (lambda f: f.update(problem_bias=np.full((5, 3), np.nan)), "problem_bias has a value that is not finite"),
    "a body that is not there": (lambda f: f.update(problem_b=np.full(5, 2)), "names a body that is not there"),
}


@pytest.mark.parametrize("case", DUMPS)
def test_malformed_dumps(tmp_path, case):
    change, said = DUMPS[case]
    path = tmp_path / "x.npz"
    dumped(path)
    with np.load(path) as archive:
        fields = dict(archive)
    change(fields)
    np.savez(path, **fields)
    refused(path, said)


def test_cut_and_overlong_dumps(tmp_path):
    path = tmp_path / "x.npz"
    dumped(path)
    (tmp_path / "cut.npz").write_bytes(path.read_bytes()[:1000])
    refused(tmp_path / "cut.npz", "not a dump")
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }".ljust(117) + b"\n"
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("longer.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    with pytest.raises(InputError, match="is said to be"):
        read_problem(path)


def test_a_sparse_matrix_is_counted_by_its_entries(tmp_path):
    """20,000 masses, 400 million numbers if M were dense: read, and its residual is computed. Truth: by hand, a unit of
    reaction on a mass of 2 kg. To solve it M would have to be dense, and that is said."""
    n = 20_000
    H = np.zeros((n, 3))
    H[[0, 1, 2], [0, 1, 2]] = 1.0
    path = foreign.fclib(tmp_path / "wide", "rows", 3, M=sp.diags_array(np.full(n, 2.0)), H=H, f=np.zeros(n),
                         w=np.array([-1.0, 0.0, 0.0]), mu=np.array([0.5]))  # fmt: skip
    given = read_contact_problem(path)
    assert given.velocity(np.array([[2.0, 1.0, 0.0]]))[0] == pytest.approx([0.0, 0.5, 0.0])
    assert given.residual(np.array([[2.0, 0.0, 0.0]])) == pytest.approx(0.0, abs=1e-14)
    with pytest.raises(InputError, match=r"M is 20000 x 20000, and solving needs it dense"):
        given.problem()
