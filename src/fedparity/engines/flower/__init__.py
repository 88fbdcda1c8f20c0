"""Flower as the engine of an audit: two apps that translate, and know nothing else.

Extra ``[flower]``. The auditor's app asks every node for the message of its silo; the silo's app
reads the node's own configuration and takes the steps that ``fedparity sketch`` and
``fedparity secure`` take.
"""

from fedparity.engines.flower.quiet import be_quiet

be_quiet()  # before anything of Flower is imported
