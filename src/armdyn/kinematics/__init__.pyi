from armdyn.kinematics.closed_form import closed_form as closed_form
from armdyn.kinematics.inverse import all_solutions as all_solutions
from armdyn.kinematics.inverse import inverse_kinematics as inverse_kinematics
from armdyn.kinematics.inverse import InverseKinematics as InverseKinematics
from armdyn.kinematics.inverse import SolutionStatus as SolutionStatus
from armdyn.kinematics.inverse import Unreachable as Unreachable
from armdyn.kinematics.reach import reach as reach
