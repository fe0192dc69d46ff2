"""Other programs that move blocks in contact, one file each. A peer is a comparison only: drystone imports none of them.

A peer has the name by which the tables call it, its package and licence, the settings with which it runs, the best one found by
trial and its defaults, and `steps`, which takes a model through time. To compare with one more, write its file and name it
here.
"""

from bench.peers import lmgc90, mujoco, rapier

PEERS = (rapier.PEER, mujoco.PEER, lmgc90.PEER)
