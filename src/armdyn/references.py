"""What the methods and the robots of armdyn rest on: references, by topic and by robot.

The five source texts are cited in the code by number (`Reference.number`). A field that is not known for certain is
left empty rather than guessed.
"""

from __future__ import annotations

from dataclasses import dataclass

from armdyn import catalog
from armdyn.errors import unknown_name
from armdyn.mechanics.registry import FORMULATIONS

IJRR = "The International Journal of Robotics Research"
JDSMC = "Journal of Dynamic Systems, Measurement, and Control"
TRA = "IEEE Transactions on Robotics and Automation"
ICRA = "IEEE International Conference on Robotics and Automation"
RAL = "IEEE Robotics and Automation Letters"
MBSD = "Multibody System Dynamics"


@dataclass(frozen=True)
class Reference:
    """One publication: who, what, when, where, and what armdyn takes from it."""

    key: str
    authors: tuple[str, ...]
    title: str
    year: int | None
    where: str = ""
    kind: str = "article"
    volume: str = ""
    issue: str = ""
    pages: str = ""
    used: str = ""
    topics: tuple[str, ...] = ()
    robots: tuple[str, ...] = ()
    number: str = ""

    def __str__(self) -> str:
        """One line of plain text."""
        volume = self.volume + (f"({self.issue})" if self.issue else "")
        place = " ".join(filter(None, (self.where, volume)))
        ending = ", ".join(filter(None, (place, self.pages, str(self.year or ""))))
        return f"{_listed(self.authors)}: {self.title}." + (f" {ending}." if ending else "")

    def bibtex(self) -> str:
        """An entry of a BibTeX file."""
        home = {"article": "journal", "inproceedings": "booktitle", "book": "publisher"}.get(self.kind, "howpublished")
        fields = {
            "author": " and ".join(self.authors),
            "title": f"{{{self.title}}}",
            home: self.where,
            "volume": self.volume,
            "number": self.issue,
            "pages": self.pages.replace("-", "--"),
            "year": str(self.year or ""),
        }
        lines = [f"  {name:<12} = {{{_tex(value)}}}," for name, value in fields.items() if value]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])


REFERENCES = (
    Reference(
        "elbaji2022",
        ("O. El Baji", "N. Ben Said Amrani", "D. Sarsri"),
        "Online trajectory tracking control based on the explicit form of the equations of motion for serial "
        "manipulator using the new formulation",
        2022,
        "Journal of Robotics",
        pages="8715161",
        used="formulation of Bertrand and Bruneau for any joints; tracking of a SCARA arm",
        topics=("bertrand_bruneau", "control", "simulation"),
        robots=("scara5",),
        number="000",
    ),
    Reference(
        "milicevic",
        ("I. Milićević", "D. Golubović", "N. Slavković"),
        "Transformation matrix approach to dynamics of manipulative robots",
        None,
        kind="misc",
        used="Lagrange-Euler by 4x4 matrices, Newton-Euler in base and link frames, generalized d'Alembert",
        topics=("lagrange_euler", "newton_euler", "newton_euler_base", "dalembert"),
        number="001",
    ),
    Reference(
        "khalil2019",
        ("W. Khalil",),
        "Modeling and control of manipulators, part II: dynamics and control",
        2019,
        "Lecture notes, HAL cel-02130022",
        kind="misc",
        used="Newton-Euler linear in the parameters, customised models, articulated bodies, base parameters, "
        "trajectories, control",
        topics=(
            "newton_euler", "lagrange", "gim_christoffel", "composite_body", "articulated_body", "forward",
            "parameters", "trajectory", "control", "elastic",
        ),
        robots=("rx90",),
        number="002",
    ),
    Reference(
        "truc2020",
        ("Le Ngoc Truc", "Nguyen Van Quyen", "Nguyen Phung Quang"),
        "Dynamic model with a new formulation of Coriolis/centrifugal matrix for robot manipulators",
        2020,
        "Journal of Computer Science and Cybernetics",
        volume="36",
        issue="1",
        pages="89-104",
        used="Euler-Lagrange with Kronecker products; feedforward experiment",
        topics=("kronecker", "simulation"),
        robots=("three_link",),
        number="003",
    ),
    Reference(
        "siciliano2009",
        ("B. Siciliano", "L. Sciavicco", "L. Villani", "G. Oriolo"),
        "Robotics: Modelling, Planning and Control",
        2009,
        "Springer, London",
        kind="book",
        used="chapter 7: rotors in full, closed chains, parameters, dynamic scaling, operational space, ellipsoids",
        topics=(
            "newton_euler", "lagrange", "gim_christoffel", "rotors", "closed_chains", "parameters", "timing",
            "operational_space",
        ),
        robots=("cartesian2", "parallelogram", "pendulum", "planar2r", "planar3r"),
        number="004",
    ),
    Reference(
        "bertrand2013",
        ("S. Bertrand", "O. Bruneau"),
        "A clear description of system dynamics through the physical parameters and generalized coordinates",
        2013,
        MBSD,
        volume="29",
        issue="2",
        pages="213-233",
        used="the formulation that source El Baji extends to prismatic joints",
        topics=("bertrand_bruneau",),
    ),
    Reference(
        "luh1980",
        ("J. Y. S. Luh", "M. W. Walker", "R. P. C. Paul"),
        "On-line computational scheme for mechanical manipulators",
        1980,
        JDSMC,
        volume="102",
        issue="2",
        pages="69-76",
        used="recursive Newton-Euler",
        topics=("newton_euler",),
    ),
    Reference(
        "kane1985",
        ("T. R. Kane", "D. A. Levinson"),
        "Dynamics: Theory and Applications",
        1985,
        "McGraw-Hill",
        kind="book",
        used="partial velocities",
        topics=("kane",),
    ),
    Reference(
        "mirtaheri2021",
        ("S. M. Mirtaheri", "H. Zohoor"),
        "Efficient formulation of the Gibbs-Appell equations for constrained multibody systems",
        2021,
        MBSD,
        volume="53",
        issue="3",
        pages="303-325",
        used="energy of acceleration",
        topics=("gibbs_appell",),
    ),
    Reference(
        "walker1982",
        ("M. W. Walker", "D. E. Orin"),
        "Efficient dynamic computer simulation of robotic mechanisms",
        1982,
        JDSMC,
        volume="104",
        issue="3",
        pages="205-211",
        used="inertia matrix by composite bodies, direct dynamics column by column",
        topics=("composite_body", "forward"),
    ),
    Reference(
        "featherstone1983",
        ("R. Featherstone",),
        "The calculation of robot dynamics using articulated-body inertias",
        1983,
        IJRR,
        volume="2",
        issue="1",
        pages="13-30",
        used="forward dynamics in linear time",
        topics=("articulated_body",),
    ),
    Reference(
        "featherstone2008",
        ("R. Featherstone",),
        "Rigid Body Dynamics Algorithms",
        2008,
        "Springer",
        kind="book",
        used="spatial vectors, recursions over trees",
        topics=("articulated_body", "composite_body", "derivatives"),
    ),
    Reference(
        "echeandia2021",
        ("S. Echeandia", "P. M. Wensing"),
        "Numerical methods to compute the Coriolis matrix and Christoffel symbols for rigid-body systems",
        2021,
        "Journal of Computational and Nonlinear Dynamics",
        volume="16",
        issue="9",
        used="Coriolis matrix by recursion",
        topics=("derivatives",),
    ),
    Reference(
        "singh2022",
        ("S. Singh", "R. P. Russell", "P. M. Wensing"),
        "Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra",
        2022,
        RAL,
        volume="7",
        issue="2",
        pages="1776-1783",
        used="derivatives of inverse dynamics",
        topics=("derivatives",),
    ),
    Reference(
        "denavit1955",
        ("J. Denavit", "R. S. Hartenberg"),
        "A kinematic notation for lower-pair mechanisms based on matrices",
        1955,
        "Journal of Applied Mechanics",
        volume="77",
        pages="215-221",
        used="standard table of a chain",
        topics=("kinematics",),
    ),
    Reference(
        "khalil1986",
        ("W. Khalil", "J.-F. Kleinfinger"),
        "A new geometric notation for open and closed-loop robots",
        1986,
        ICRA,
        kind="inproceedings",
        pages="1174-1179",
        used="modified table, branches",
        topics=("kinematics", "closed_chains"),
    ),
    Reference(
        "gautier1990",
        ("M. Gautier", "W. Khalil"),
        "Direct calculation of minimum set of inertial parameters of serial robots",
        1990,
        TRA,
        volume="6",
        issue="3",
        pages="368-373",
        used="grouping rules of the base parameters",
        topics=("parameters", "identification"),
    ),
    Reference(
        "schwartz1980",
        ("J. T. Schwartz",),
        "Fast probabilistic algorithms for verification of polynomial identities",
        1980,
        "Journal of the ACM",
        volume="27",
        issue="4",
        pages="701-717",
        used="the chance of error of a certificate",
        topics=("certificate",),
    ),
    Reference(
        "zippel1979",
        ("R. Zippel",),
        "Probabilistic algorithms for sparse polynomials",
        1979,
        "Symbolic and Algebraic Computation (EUROSAM), Springer",
        kind="inproceedings",
        pages="216-226",
        used="the chance of error of a certificate",
        topics=("certificate",),
    ),
    Reference(
        "spong1987",
        ("M. W. Spong",),
        "Modeling and control of elastic joint robots",
        1987,
        JDSMC,
        volume="109",
        issue="4",
        pages="310-319",
        used="elastic joints",
        topics=("elastic",),
    ),
    Reference(
        "hollerbach1984",
        ("J. M. Hollerbach",),
        "Dynamic scaling of manipulator trajectories",
        1984,
        JDSMC,
        volume="106",
        issue="1",
        pages="102-106",
        used="slowing a motion down until its torques are available",
        topics=("timing",),
    ),
    Reference(
        "bobrow1985",
        ("J. E. Bobrow", "S. Dubowsky", "J. S. Gibson"),
        "Time-optimal control of robotic manipulators along specified paths",
        1985,
        IJRR,
        volume="4",
        issue="3",
        pages="3-17",
        used="least time along a path under torque limits",
        topics=("timing",),
    ),
    Reference(
        "pham2018",
        ("H. Pham", "Q.-C. Pham"),
        "A new approach to time-optimal path parameterization based on reachability analysis",
        2018,
        "IEEE Transactions on Robotics",
        volume="34",
        issue="3",
        pages="645-659",
        used="controllable sets along a path (TOPP-RA)",
        topics=("timing",),
    ),
    Reference(
        "berscheid2021",
        ("L. Berscheid", "T. Kröger"),
        "Jerk-limited real-time trajectory generation with arbitrary target states",
        2021,
        "Robotics: Science and Systems",
        kind="inproceedings",
        used="Ruckig, the optional engine of jerk-limited motions",
        topics=("trajectory",),
    ),
    Reference(
        "luh1980b",
        ("J. Y. S. Luh", "M. W. Walker", "R. P. C. Paul"),
        "Resolved-acceleration control of mechanical manipulators",
        1980,
        "IEEE Transactions on Automatic Control",
        volume="25",
        issue="3",
        pages="468-474",
        used="computed torque in task space",
        topics=("control",),
    ),
    Reference(
        "hogan1985",
        ("N. Hogan",),
        "Impedance control: an approach to manipulation",
        1985,
        JDSMC,
        volume="107",
        issue="1",
        pages="1-24",
        used="impedance and admittance of the tool",
        topics=("control",),
    ),
    Reference(
        "slotine1987",
        ("J.-J. E. Slotine", "W. Li"),
        "On the adaptive control of robot manipulators",
        1987,
        IJRR,
        volume="6",
        issue="3",
        pages="49-59",
        used="adaptive law on the regressor",
        topics=("control",),
    ),
    Reference(
        "slotine1991",
        ("J.-J. E. Slotine", "W. Li"),
        "Applied Nonlinear Control",
        1991,
        "Prentice Hall",
        kind="book",
        used="sliding mode with a boundary layer",
        topics=("control",),
    ),
    Reference(
        "deluca2003",
        ("A. De Luca", "R. Mattone"),
        "Actuator failure detection and isolation using generalized momenta",
        2003,
        ICRA,
        kind="inproceedings",
        pages="634-639",
        used="momentum observer",
        topics=("control",),
    ),
    Reference(
        "atkeson1986",
        ("C. G. Atkeson", "C. H. An", "J. M. Hollerbach"),
        "Estimation of inertial parameters of manipulator loads and links",
        1986,
        IJRR,
        volume="5",
        issue="3",
        pages="101-119",
        used="least squares on the linear form",
        topics=("identification",),
    ),
    Reference(
        "swevers1997",
        ("J. Swevers", "C. Ganseman", "D. B. Tükel", "J. De Schutter", "H. Van Brussel"),
        "Optimal robot excitation and identification",
        1997,
        TRA,
        volume="13",
        issue="5",
        pages="730-740",
        used="periodic excitation by Fourier series",
        topics=("identification", "trajectory"),
    ),
    Reference(
        "janot2014",
        ("A. Janot", "P.-O. Vandanjon", "M. Gautier"),
        "A generic instrumental variable approach for industrial robot identification",
        2014,
        "IEEE Transactions on Control Systems Technology",
        volume="22",
        issue="1",
        pages="132-145",
        used="instruments from a motion without noise",
        topics=("identification",),
    ),
    Reference(
        "wensing2018",
        ("P. M. Wensing", "S. Kim", "J.-J. E. Slotine"),
        "Linear matrix inequalities for physically consistent inertial parameter identification: a statistical "
        "perspective on the mass distribution",
        2018,
        RAL,
        volume="3",
        issue="1",
        pages="60-67",
        used="pseudo-inertia: what makes ten parameters a possible body",
        topics=("parameters", "identification"),
    ),
    Reference(
        "khatib1987",
        ("O. Khatib",),
        "A unified approach for motion and force control of robot manipulators: the operational space formulation",
        1987,
        "IEEE Journal on Robotics and Automation",
        volume="3",
        issue="1",
        pages="43-53",
        used="dynamics seen at the tool",
        topics=("operational_space",),
    ),
    Reference(
        "yoshikawa1985",
        ("T. Yoshikawa",),
        "Manipulability of robotic mechanisms",
        1985,
        IJRR,
        volume="4",
        issue="2",
        pages="3-9",
        used="manipulability ellipsoids",
        topics=("operational_space",),
    ),
    Reference(
        "yoshikawa1985b",
        ("T. Yoshikawa",),
        "Dynamic manipulability of robot manipulators",
        1985,
        "Journal of Robotic Systems",
        volume="2",
        issue="1",
        pages="113-124",
        used="accelerations of the tool that the torques allow",
        topics=("operational_space",),
    ),
    Reference(
        "carpentier2019",
        ("J. Carpentier", "G. Saurel", "G. Buondonno", "J. Mirabel", "F. Lamiraux", "O. Stasse", "N. Mansard"),
        "The Pinocchio C++ library: a fast and flexible implementation of rigid body dynamics algorithms and their "
        "analytical derivatives",
        2019,
        "IEEE/SICE International Symposium on System Integration",
        kind="inproceedings",
        used="independent engine of the tests and benchmarks",
        topics=("engines",),
    ),
    Reference(
        "todorov2012",
        ("E. Todorov", "T. Erez", "Y. Tassa"),
        "MuJoCo: a physics engine for model-based control",
        2012,
        "IEEE/RSJ International Conference on Intelligent Robots and Systems",
        kind="inproceedings",
        pages="5026-5033",
        used="independent engine of the tests and benchmarks",
        topics=("engines",),
    ),
    Reference(
        "armstrong1986",
        ("B. Armstrong", "O. Khatib", "J. Burdick"),
        "The explicit dynamic model and inertial parameters of the PUMA 560 arm",
        1986,
        ICRA,
        kind="inproceedings",
        pages="510-518",
        used="figures of the Puma 560",
        robots=("puma560",),
    ),
    Reference(
        "corke1994",
        ("P. I. Corke", "B. Armstrong-Hélouvry"),
        "A search for consensus among model parameters reported for the PUMA 560 robot",
        1994,
        ICRA,
        kind="inproceedings",
        pages="1608-1613",
        used="figures of the Puma 560",
        robots=("puma560",),
    ),
    Reference(
        "gaz2019",
        ("C. Gaz", "M. Cognetti", "A. Oliva", "P. Robuffo Giordano", "A. De Luca"),
        "Dynamic identification of the Franka Emika Panda robot with retrieval of feasible parameters using "
        "penalty-based optimization",
        2019,
        RAL,
        volume="4",
        issue="4",
        pages="4147-4154",
        used="inertial parameters of the Panda",
        robots=("panda",),
    ),
)  # fmt: skip


def topics() -> list[str]:
    """What `about` understands besides robots: formulations first, then the rest by name."""
    known = {topic for reference in REFERENCES for topic in reference.topics}
    first = [entry.name for entry in FORMULATIONS if entry.name in known]
    return first + sorted(known - set(first))


def about(name: str) -> tuple[Reference, ...]:
    """The references of a topic, of a catalog robot, or the one with that key or number.

    >>> [reference.key for reference in about("kane")]
    ['kane1985']
    """
    wanted = name.lower().replace("-", "_").replace(" ", "_")
    found = [r for r in REFERENCES if wanted in (*r.topics, *r.robots, r.key) or (r.number and wanted == r.number)]
    if not found and wanted not in catalog.names():
        raise unknown_name("topic", name, [*topics(), *catalog.names()])
    return tuple(found)


def _listed(authors: tuple[str, ...]) -> str:
    return authors[0] if len(authors) == 1 else f"{', '.join(authors[:-1])} and {authors[-1]}"


_TEX = {"ć": r"{\'c}", "ö": r"{\"o}", "ü": r"{\"u}", "é": r"{\'e}"}


def _tex(text: str) -> str:
    """Letters that older BibTeX does not read, written out."""
    return "".join(_TEX.get(letter, letter) for letter in text)
